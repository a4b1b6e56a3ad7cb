// Writes a Parquet file again with parquet-wasm: wasm.mjs MODULES IN OUT VERSION CODEC.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, input, output, version, codec] = process.argv.slice(2);
const require = createRequire(pathToFileURL(modules + "/package.json"));
const { Compression, readParquet, writeParquet, WriterPropertiesBuilder, WriterVersion } = require("parquet-wasm");
const properties = new WriterPropertiesBuilder()
  .setWriterVersion(version === "2" ? WriterVersion.V2 : WriterVersion.V1)
  .setCompression(Compression[codec])
  .setMaxRowGroupSize(900)
  .setDataPageSizeLimit(20000)
  .setWriteBatchSize(100)
  .build();
writeFileSync(output, writeParquet(readParquet(readFileSync(input)), properties));
