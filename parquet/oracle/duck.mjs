// Runs SQL in DuckDB: one statement a line on standard input, one list of rows a line on standard output.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const modules = createRequire(pathToFileURL(process.argv[2] + "/package.json"));
const { DuckDBInstance } = await import(pathToFileURL(modules.resolve("@duckdb/node-api")));
const connection = await (await DuckDBInstance.create(":memory:")).connect();
for await (const statement of createInterface({ input: process.stdin })) {
  const rows = (await connection.runAndReadAll(statement)).getRowObjectsJson();
  console.log(JSON.stringify(rows));
}
