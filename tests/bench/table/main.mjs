// The second half of scripts/bench.sh: makes the models, measures, prints the table and keeps it. With
// --check before the options it only prints the errors in them. survey.mjs makes the survey.
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { UsageError, parse, usage } from "./arguments.mjs";
import { compare } from "./compare.mjs";
import { write } from "./files.mjs";
import { about, measureModel } from "./measure.mjs";
import { generatedFolder, python, root } from "./models.mjs";
import { plot } from "./plot.mjs";
import { runSurvey } from "./survey.mjs";
import { tableText } from "./text.mjs";

const format = 1;
const parts = ["dispatch", "waiting", "scale"];

function say(line) {
  process.stderr.write(`bench: ${line}\n`);
}

function makeModels(models) {
  const names = models.filter(({ generated }) => generated).map(({ name }) => name);
  if (names.length === 0) return;
  execFileSync(python, ["-B", path.join(root, "tests/bench/models/generate.py"), generatedFolder, ...names], {
    stdio: "inherit",
  });
}

function readTable(file) {
  let table;
  try {
    table = JSON.parse(fs.readFileSync(file, "utf8"));
  } catch (error) {
    throw new UsageError(`--against ${file}: ${error.message}`);
  }
  if (table?.format !== format || !Array.isArray(table.models))
    throw new UsageError(`--against ${file}: expected a table of format ${format}`);
  return table;
}

async function measureTable(asked, kept) {
  const table = { format, ...(await about(asked)), models: [] };
  for (const model of asked.models) table.models.push(await measureModel(model, asked, say));
  if (kept) table.comparison = compare(kept, table);
  return table;
}

function keep(asked, table) {
  const at = (name) => path.join(asked.out, name);
  const text = JSON.stringify(table, null, 1) + "\n";
  write(at("table.json"), text);
  const svg = plot(table);
  if (svg) write(at("table.svg"), svg);
  if (asked.keep) write(at("kept.json"), text);
  say(`in ${asked.out}: table.json${svg ? ", table.svg" : ""}${asked.keep ? ", kept.json" : ""}`);
}

/** Exit code 1 if a part could not be run. */
function runParts() {
  let good = true;
  for (const part of parts) {
    console.log(`\nbench_${part}`);
    good = spawnSync(path.join(root, `build/bin/bench_${part}`), { stdio: "inherit" }).status === 0 && good;
  }
  return good;
}

async function main(words) {
  const checkOnly = words[0] === "--check";
  const asked = parse(checkOnly ? words.slice(1) : words);
  if (asked.help) return console.log(usage);
  if (asked.cpu) process.env.POLYCHRON_MAX_VECTORS = asked.cpu; // for each run of ours
  if (asked.survey) {
    if (!checkOnly && !(await runSurvey(asked, say))) process.exitCode = 1;
    return undefined;
  }
  const against = asked.against ?? path.join(asked.out, "kept.json");
  const kept = asked.against !== undefined || fs.existsSync(against) ? readTable(against) : undefined;
  if (checkOnly) return undefined;
  let good = true;
  if (asked.models.length > 0) {
    makeModels(asked.models);
    fs.mkdirSync(asked.out, { recursive: true });
    const table = await measureTable(asked, kept);
    console.log(tableText(table));
    if (!kept && !asked.keep) console.log("\nNo table is kept to compare with: --keep keeps one.");
    keep(asked, table);
    good = table.models.every(({ error, agreement }) => !error && agreement.agrees);
  }
  if (asked.parts) good = runParts() && good;
  if (!good) process.exitCode = 1;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`bench.sh: ${error.message}\n(--help tells more)`);
  process.exitCode = 2;
}
