//! Names of classes and arguments.

use rushlight_base::{Result, ensure};

/// Whether an argument of a TorchScript function can have this name.
pub(super) fn is_argument(name: &str) -> bool {
    let mut characters = name.chars();
    let begins = characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    begins && characters.all(|c| c.is_ascii_alphanumeric() || c == '_') && !KEYWORDS.contains(&name)
}

const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// The files of Python's `torch.nn.modules`, with the classes that are in them.
const FILES: &[(&str, &[&str])] = &[
    ("linear", &["Identity", "Linear", "Bilinear"]),
    ("conv", &["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]),
    ("rnn", &["RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell"]),
    ("batchnorm", &["BatchNorm1d", "BatchNorm2d", "BatchNorm3d"]),
    ("instancenorm", &["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]),
    ("normalization", &["LayerNorm", "GroupNorm", "LocalResponseNorm", "CrossMapLRN2d"]),
    ("dropout", &["Dropout", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"]),
    ("sparse", &["Embedding", "EmbeddingBag"]),
    ("flatten", &["Flatten", "Unflatten"]),
    ("container", &["Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"]),
    (
        "transformer",
        &[
            "Transformer",
            "TransformerEncoder",
            "TransformerDecoder",
            "TransformerEncoderLayer",
            "TransformerDecoderLayer",
        ],
    ),
    (
        "activation",
        &[
            "ReLU",
            "ReLU6",
            "ELU",
            "SELU",
            "CELU",
            "GELU",
            "SiLU",
            "Mish",
            "Sigmoid",
            "Tanh",
            "Softmax",
            "Softmax2d",
            "LogSoftmax",
            "Softmin",
            "Softplus",
            "Softshrink",
            "Softsign",
            "Tanhshrink",
            "Hardtanh",
            "Hardshrink",
            "LeakyReLU",
            "LogSigmoid",
            "PReLU",
            "RReLU",
            "Threshold",
            "GLU",
            "MultiheadAttention",
        ],
    ),
    (
        "pooling",
        &[
            "MaxPool1d",
            "MaxPool2d",
            "MaxPool3d",
            "AvgPool1d",
            "AvgPool2d",
            "AvgPool3d",
            "AdaptiveAvgPool1d",
            "AdaptiveAvgPool2d",
            "AdaptiveAvgPool3d",
            "AdaptiveMaxPool1d",
            "AdaptiveMaxPool2d",
            "AdaptiveMaxPool3d",
            "LPPool1d",
            "LPPool2d",
            "LPPool3d",
            "FractionalMaxPool2d",
            "FractionalMaxPool3d",
            "MaxUnpool1d",
            "MaxUnpool2d",
            "MaxUnpool3d",
        ],
    ),
    (
        "padding",
        &[
            "ConstantPad1d",
            "ConstantPad2d",
            "ConstantPad3d",
            "ReflectionPad1d",
            "ReflectionPad2d",
            "ReflectionPad3d",
            "ReplicationPad1d",
            "ReplicationPad2d",
            "ReplicationPad3d",
            "ZeroPad1d",
            "ZeroPad2d",
            "ZeroPad3d",
        ],
    ),
    ("pixelshuffle", &["PixelShuffle", "PixelUnshuffle"]),
    ("upsampling", &["Upsample"]),
    ("fold", &["Fold", "Unfold"]),
    ("distance", &["CosineSimilarity", "PairwiseDistance"]),
];

/// The qualified name of a class that the caller calls `torch::nn::LinearImpl`, `(anonymous namespace)::Net`,
/// `com.example.Net$Block` or `__torch__.Net`.
pub(super) fn class_name(given: &str) -> Result<String> {
    ensure!(!given.is_empty(), Value, "the class of a module has no name");
    if given.starts_with("__torch__.") {
        ensure!(given.split('.').all(is_part), Value, "'{given}' is not the name of a class");
        return Ok(given.to_owned());
    }
    // Without the arguments of templates, and what compilers write for namespaces without names.
    let plain = given.split('<').next().unwrap_or(given).replace("(anonymous namespace)", "").replace("::", ".");
    let parts = plain.split(['.', '$']).map(clean).filter(|part| !part.is_empty());
    let mut parts: Vec<String> = parts.filter(|part| !is_version(part)).collect();
    let Some(last) = parts.pop() else { return Ok("__torch__.Module".to_owned()) };
    let short = match last.strip_suffix("Impl") {
        Some(short) if !short.is_empty() => short.to_owned(),
        _ => last,
    };
    let is_layer = matches!(
        parts.iter().map(String::as_str).collect::<Vec<_>>()[..],
        ["torch", "nn"] | ["org", "rushlight", "nn"]
    );
    let file = FILES.iter().find(|(_, classes)| classes.contains(&short.as_str()));
    Ok(match file {
        Some((file, _)) if is_layer => format!("__torch__.torch.nn.modules.{file}.{short}"),
        _ if parts.is_empty() => format!("__torch__.{short}"),
        _ => format!("__torch__.{}.{short}", parts.join(".")),
    })
}

/// The inline namespace of the C++ frontend.
fn is_version(part: &str) -> bool {
    part.strip_prefix("rlt_").is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

fn is_part(part: &str) -> bool {
    !part.is_empty() && clean(part) == part
}

/// With underscores for what names cannot have.
fn clean(part: &str) -> String {
    let cleaned: String = part.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    match cleaned.chars().next() {
        Some(first) if first.is_ascii_digit() => format!("_{cleaned}"),
        _ => cleaned,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_the_names_of_python() {
        let name = |given| class_name(given).unwrap();
        assert_eq!(name("torch::nn::LinearImpl"), "__torch__.torch.nn.modules.linear.Linear");
        assert_eq!(name("torch::rlt_1::nn::Conv2dImpl"), "__torch__.torch.nn.modules.conv.Conv2d");
        assert_eq!(name("org.rushlight.nn.Conv2d"), "__torch__.torch.nn.modules.conv.Conv2d");
        assert_eq!(name("NetImpl"), "__torch__.Net");
        assert_eq!(name("(anonymous namespace)::Net"), "__torch__.Net");
        assert_eq!(name("models::Net<int, 3>"), "__torch__.models.Net");
        assert_eq!(name("com.example.App$Net"), "__torch__.com.example.App.Net");
        assert_eq!(name("__torch__.Net"), "__torch__.Net");
        assert!(class_name("").is_err() && class_name("__torch__.a b").is_err());
    }
}
