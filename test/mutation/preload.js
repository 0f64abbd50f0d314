// Loaded into every process of a mutation run: decides which mutant is active, and records which test reaches which.
import { ChildProcess } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const { MUTATION_ACTIVE, MUTATION_HITS, MUTATION_TEST, NODE_OPTIONS } = process.env;
const active = Number(MUTATION_ACTIVE ?? -1);
/** Mutants that the current test file has reached. */
let noted = new Set();
let notedFile;
const testFile = () => globalThis.__vitest_worker__?.filepath ?? MUTATION_TEST;

globalThis.__mutant = (id) => {
  if (MUTATION_HITS !== undefined) {
    const file = testFile();
    if (file !== notedFile) noted = new Set();
    notedFile = file;
    if (!noted.has(id)) {
      noted.add(id);
      appendFileSync(MUTATION_HITS, `${id} ${file}\n`);
    }
  }
  return id === active;
};

// Programs that a test starts belong to that test, even with another environment.
const { spawn } = ChildProcess.prototype;
ChildProcess.prototype.spawn = function spawnWithMutants(options) {
  const file = testFile();
  if (file !== undefined && Array.isArray(options.envPairs)) {
    const names = new Set(options.envPairs.map((pair) => pair.split('=')[0]));
    const variables = { MUTATION_ACTIVE, MUTATION_HITS, NODE_OPTIONS };
    for (const [name, value] of Object.entries(variables))
      if (value !== undefined && !names.has(name)) options.envPairs.push(`${name}=${value}`);
    options.envPairs.push(`MUTATION_TEST=${file}`);
  }
  return spawn.call(this, options);
};
