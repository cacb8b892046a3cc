package digits;

import digits.Canvas.Color;

/** The colors of the pictures. */
final class Palette {
    static final Color INK = new Color(40, 44, 52);
    static final Color GREY = new Color(120, 126, 136);
    static final Color GRID = new Color(228, 231, 236);
    static final Color PAPER = new Color(244, 246, 249);
    static final Color WHITE = new Color(255, 255, 255);
    static final Color BLUE = new Color(28, 94, 184);
    static final Color PALE = new Color(176, 205, 240);
    static final Color RED = new Color(208, 62, 48);

    private Palette() {}
}
