import { runHere } from './run-solway.ts';

/** Runs commands of `solway`, given as a JSON array of `[folder, ...arguments]`, and prints their results as JSON. */
const results = [];
for (const [folder, ...args] of JSON.parse(process.argv[2]!) as [string, ...string[]][])
  results.push(await runHere(folder, args, { SOLWAY_LOG_LEVEL: 'silent' }));
process.stdout.write(JSON.stringify(results));
