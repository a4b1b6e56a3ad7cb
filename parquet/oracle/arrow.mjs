// Converts a file: arrow.mjs MODULES IN OUT. *.parquet and *.arrows, which are streams, are read and written by
// parquet-wasm, and *.arrow, which are files, by Arrow's own library for JavaScript.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { extname } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, input, output] = process.argv.slice(2);
const require = createRequire(pathToFileURL(modules + "/package.json"));
const { readParquet, Table, writeParquet } = require("parquet-wasm");
const { tableFromIPC, tableToIPC } = require("apache-arrow");

let stream = readFileSync(input);
if (extname(input) === ".parquet") {
  stream = readParquet(stream, { batchSize: 60 }).intoIPCStream();
} else if (extname(input) === ".arrow") {
  stream = tableToIPC(tableFromIPC(stream), "stream");
}
if (extname(output) === ".parquet") {
  stream = writeParquet(Table.fromIPCStream(stream));
} else if (extname(output) === ".arrow") {
  stream = tableToIPC(tableFromIPC(stream), "file");
}
writeFileSync(output, stream);
