import { parseArgs } from 'node:util';
import { targetNames } from './target-files.ts';

/** What a run was asked for. */
export type FuzzOptions = Readonly<{
  targets: readonly string[];
  minutes: number;
  seed: number;
  atOnce: number;
  /** File of the one input to feed; null for a run. */
  input: string | null;
  updates: boolean;
  asJson: boolean;
}>;

const USAGE = `Usage: npm run fuzz [-- TARGET… --minutes N --seed N]

Feeds the decoders that meet bytes from outside with inputs made of good ones, of those that once reached
something new (test/fuzz/corpus), and of chance. What makes a decoder throw, hang or fill the memory is made smaller,
written to test-artefacts/fuzz, and told of with the command that repeats it; then the exit code is 1.

  --minutes N    processor time of all targets together, default 10, in equal shares
  --target NAME  feed this one, as TARGET does; as often as is wanted
  --seed N       the chance of an earlier run, default from the clock
  --at-once N    targets fed side by side, default 2
  --input FILE   feed one target this input and nothing else
  --update       write what reached something new into test/fuzz/corpus
  --json         print the result as JSON

Targets: ${targetNames.join(', ')}`;

/** Ends the program with exit code 2. */
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

/** Reads the command line; tells how it is used, and ends the program, where that is asked for or needed. */
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
