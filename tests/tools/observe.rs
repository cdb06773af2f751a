//! Prints what would be observed once an actor is ready or napping, as a start for a case's `observed.yaml`:
//! `cargo run --example observe -- ready ACTOR [-e FILES…] [-o OBSERVED…]`.

use anyhow::{Context as _, bail};
use clap::Parser;
use function_asya::cli::scene::{Arguments, Scene};
use function_asya::cli::simulate::{self, End};
use function_asya::cli::{print, stop::Stop};
use serde_json::{Value, json};

#[derive(Parser)]
struct Observe {
    end: End,
    #[command(flatten)]
    scene: Arguments,
}

fn main() -> anyhow::Result<()> {
    let arguments = Observe::parse();
    let stop = |Stop { message, .. }| anyhow::anyhow!(message);
    let mut scene = Scene::read(&arguments.scene, &mut std::io::stdin()).map_err(stop)?;
    let composition = simulate::play(&mut scene, arguments.end).map_err(stop)?;
    if !composition.problems.is_empty() {
        bail!("{}", composition.problems);
    }
    let mut documents: Vec<Value> = scene.observed.into_values().collect();
    for document in &mut documents {
        let name = document.pointer("/metadata/annotations").context("an observed object has annotations")?.clone();
        let labels = document.pointer("/metadata/labels").cloned();
        document["metadata"] = json!({"annotations": name, "labels": labels});
    }
    print!("{}", print::yaml(&documents));
    Ok(())
}
