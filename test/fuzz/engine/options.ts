import { parseArgs } from 'node:util';
import { targetNames } from './target-files.ts';

/** Options of a run. */
export type FuzzOptions = Readonly<{
  targets: readonly string[];
  minutes: number;
  seed: number;
  atOnce: number;
  /** File of a single input to run; null for a normal run. */
  input: string | null;
  updates: boolean;
  asJson: boolean;
}>;

const USAGE = `Usage: npm run fuzz [-- TARGET… --minutes N --seed N]

Runs decoders of untrusted bytes on mutated seeds, mutated inputs of test/fuzz/corpus, and random inputs. An input
that makes a decoder throw, hang or fill the memory is minimised, written to test-artefacts/fuzz and printed with the
command that repeats it; the exit code is then 1.

  --minutes N    processor time of all targets together, default 10, in equal shares
  --target NAME  run this target, like TARGET; repeatable
  --seed N       seed of an earlier run, default from the clock
  --at-once N    targets to run in parallel, default 2
  --input FILE   run one target on this input only
  --update       write inputs with new coverage to test/fuzz/corpus
  --json         print the result as JSON

Targets: ${targetNames.join(', ')}`;

/** Exits with code 2. */
function refuse(problem: string): never {
  console.error(`${problem}\n\n${USAGE}`);
  process.exit(2);
}

function parsed() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        minutes: { type: 'string', default: '10' },
        target: { type: 'string', multiple: true, default: [] },
        seed: { type: 'string', default: String(Date.now() % 0xffff_ffff) },
        'at-once': { type: 'string', default: '2' },
        input: { type: 'string' },
        update: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return refuse((error as Error).message);
  }
}

/** Reads the command line. Prints the usage and exits on --help and errors. */
export function readOptions(): FuzzOptions {
  const { values, positionals } = parsed();
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  for (const name of ['minutes', 'seed', 'at-once'] as const) {
    if (!/^\d+(\.\d+)?$/.test(values[name])) refuse(`--${name} takes a number`);
  }
  const named = [...positionals, ...values.target];
  const unknown = named.filter((name) => !targetNames.includes(name));
  if (unknown.length > 0) refuse(`no such target: ${unknown.join(', ')}`);
  if (values.input !== undefined && named.length !== 1) refuse('--input goes with one --target');
  return {
    targets: named.length === 0 ? targetNames : [...new Set(named)],
    minutes: Number(values.minutes),
    seed: Number(values.seed),
    atOnce: Math.max(1, Number(values['at-once'])),
    input: values.input ?? null,
    updates: values.update,
    asJson: values.json,
  };
}
