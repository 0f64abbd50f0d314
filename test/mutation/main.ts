import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createRandom } from '../fuzz/engine/mutate.ts';
import { type Mutant, mutantsOf, withMutants } from './mutants.ts';

/**
 * Mutation testing: how many random changes of the code do the tests detect? The sample is inserted into the
 * sources of a clone, every mutant behind a switch. One run of all tests shows which test files reach which mutant;
 * then each mutant is switched on and its test files run until one fails.
 */
const HELP = `npm run mutation -- --clone FOLDER [--seed N] [--count N] [--folders src/a,src/b] [--jobs N] [--json FILE]

  --clone    a clone of the project with its dependencies installed; its sources are changed
  --seed     draws the same sample for the same sources (default 23)
  --count    mutants in the sample (default 120)
  --folders  where they are drawn from
  --jobs     mutants tested at once (default 1)
  --json     where results are written; an interrupted run continues from it
`;

const FOLDERS = 'src/gateway,src/upstream,src/protocol,src/streams,src/control,src/decoding';
/** Tests that check the text of files would fail because of the switches. */
const STATIC = /^test\/[\w-]+\.test\.ts$|^test\/web\//;
const MUTANT_TIME_MS = 900_000;

interface Placed extends Mutant {
  readonly id: number;
  readonly file: string;
}

interface Result {
  readonly place: string;
  readonly change: string;
  readonly outcome: 'killed' | 'survived' | 'not reached';
  readonly by: string | null;
}

const { values } = parseArgs({
  options: {
    clone: { type: 'string' },
    seed: { type: 'string', default: '23' },
    count: { type: 'string', default: '120' },
    folders: { type: 'string', default: FOLDERS },
    jobs: { type: 'string', default: '1' },
    json: { type: 'string', default: 'mutation.json' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help || values.clone === undefined) {
  process.stdout.write(HELP);
  process.exit(values.help ? 0 : 2);
}
const clone = resolve(values.clone);
const hitsFile = join(clone, 'mutation-hits.txt');
const preload = `--import=${join(import.meta.dirname, 'preload.js')}`;

function drawSample(): Placed[] {
  const random = createRandom(Number(values.seed));
  const all = values.folders
    .split(',')
    .filter((folder) => existsSync(join(clone, folder)))
    .flatMap((folder) =>
      readdirSync(join(clone, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') && !/\.(test|bench)\.ts$|generated/.test(name))
        .sort()
        .map((name) => join(folder, name)),
    )
    .flatMap((file) =>
      mutantsOf(file, readFileSync(join(clone, file), 'utf8')).map((one) => ({ ...one, file })),
    );
  const drawn: Placed[] = [];
  while (drawn.length < Number(values.count) && all.length > 0) {
    const [one] = all.splice(Math.floor((random() / 2 ** 32) * all.length), 1);
    const overlaps = drawn.some(
      ({ file, start, end }) => file === one!.file && start < one!.end && one!.start < end,
    );
    if (!overlaps) drawn.push({ ...one!, id: drawn.length });
  }
  return drawn;
}

/** Runs vitest in the clone; resolves to its exit code, or null after the time limit, and its output. */
function runTests(
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ code: number | null; out: string }> {
  const child = spawn('npx', ['vitest', 'run', ...args], {
    cwd: clone,
    env: { ...process.env, ...env, NODE_OPTIONS: preload, CI: '1', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let out = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (out = (out + chunk).slice(-1_000_000)));
  const timer = setTimeout(
    () => process.kill(-child.pid!, 'SIGKILL'),
    MUTANT_TIME_MS * (env.MUTATION_HITS ? 4 : 1),
  );
  return new Promise((done) =>
    child.on('close', (code) => {
      clearTimeout(timer);
      done({ code, out });
    }),
  );
}

interface Report {
  readonly testResults: readonly { name: string; status: string; startTime: number; endTime: number }[];
}

/** Test files that reach each mutant, fastest first. Those that fail without a mutant are left out. */
async function findReached(sample: readonly Placed[]): Promise<Map<number, string[]>> {
  const reportFile = join(clone, 'mutation-baseline.json');
  if (!existsSync(reportFile)) {
    rmSync(hitsFile, { force: true });
    const args = [
      '--reporter=json',
      `--outputFile=${reportFile}`,
      '--exclude=test/*.test.ts',
      '--exclude=test/web/**',
    ];
    await runTests(args, { MUTATION_HITS: hitsFile });
  }
  const { testResults } = JSON.parse(readFileSync(reportFile, 'utf8')) as Report;
  const passed = testResults.filter(({ status }) => status === 'passed');
  process.stdout.write(`${passed.length} of ${testResults.length} test files pass without a mutant\n`);
  const time = new Map(passed.map((one) => [relative(clone, one.name), one.endTime - one.startTime]));
  const hits = readFileSync(hitsFile, 'utf8').split('\n');
  return new Map(
    sample.map(({ id }) => [
      id,
      hits
        .filter((hit) => hit.startsWith(`${id} `))
        .map((hit) => relative(clone, hit.slice(hit.indexOf(' ') + 1)))
        .filter((file) => time.has(file) && !STATIC.test(file))
        .sort((a, b) => time.get(a)! - time.get(b)!),
    ]),
  );
}

async function testMutant(mutant: Placed, files: readonly string[]): Promise<Result> {
  const { file, line, change } = mutant;
  const base = { place: `${file}:${line}`, change };
  if (files.length === 0) return { ...base, outcome: 'not reached', by: null };
  const env = { MUTATION_ACTIVE: String(mutant.id) };
  const run = (args: readonly string[]): ReturnType<typeof runTests> =>
    runTests(['--bail=1', '--maxWorkers=1', ...args], env);
  for (const batch of [files.slice(0, 6), files.slice(6)]) {
    for (let rest = batch; rest.length > 0; ) {
      const { code, out } = await run(rest);
      if (code === 0) break;
      const by = /FAIL\W+(?:\w+\W+)?(\S+\.test\.ts)/.exec(out)?.[1];
      // A test that fails once may be flaky: its file must fail again.
      if (by === undefined || !rest.includes(by) || (await run([by])).code !== 0)
        return { ...base, outcome: 'killed', by: by ?? (code === null ? 'time limit' : 'error') };
      rest = rest.filter((file) => file !== by);
    }
  }
  return { ...base, outcome: 'survived', by: null };
}

const sampleFile = join(clone, 'mutation-sample.json');
const sample: Placed[] = existsSync(sampleFile) ? JSON.parse(readFileSync(sampleFile, 'utf8')) : drawSample();
if (!existsSync(sampleFile)) {
  for (const file of new Set(sample.map((one) => one.file))) {
    const path = join(clone, file);
    writeFileSync(
      path,
      withMutants(
        readFileSync(path, 'utf8'),
        sample.filter((one) => one.file === file),
      ),
    );
  }
  writeFileSync(sampleFile, JSON.stringify(sample));
}
const reached = await findReached(sample);
const results: Record<number, Result> = existsSync(values.json)
  ? JSON.parse(readFileSync(values.json, 'utf8'))
  : {};
const waiting = sample.filter(({ id }) => results[id] === undefined);

async function work(): Promise<void> {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const result = await testMutant(next, reached.get(next.id) ?? []);
    results[next.id] = result;
    writeFileSync(values.json, JSON.stringify(results, null, 1));
    process.stdout.write(
      `${Object.keys(results).length}/${sample.length} ${result.outcome} ${result.place} ${result.change}\n`,
    );
  }
}
await Promise.all(Array.from({ length: Number(values.jobs) }, work));

const all = Object.values(results);
const killed = all.filter(({ outcome }) => outcome === 'killed').length;
process.stdout.write(
  `\n${killed} of ${all.length} mutants killed (${((100 * killed) / all.length).toFixed(1)} %)\n`,
);
for (const { place, change, outcome } of all)
  if (outcome !== 'killed') process.stdout.write(`  ${outcome}: ${place} ${change}\n`);
