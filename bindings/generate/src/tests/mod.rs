//! Tests of the emitted text, of the checked-in headers, and of writing files.

mod emitted;
mod files;
