import { parseArgs } from 'node:util';

type Values = Readonly<Record<string, number | string | boolean | readonly string[]>>;
type Widened<Defaults extends Values> = {
  readonly [Name in keyof Defaults]: Defaults[Name] extends number
    ? number
    : Defaults[Name] extends boolean
      ? boolean
      : Defaults[Name] extends readonly string[]
        ? readonly string[]
        : string;
};

/**
 * Reads the options of a program from its command line. Each has the type of its default; a list is given by repeating
 * the option, or without its name.
 * Prints the usage and exits for --help; exits with an error for an invalid number.
 */
export function readOptions<const Defaults extends Values>(
  usage: string,
  defaults: Defaults,
  ranges: Partial<Record<keyof Defaults, readonly [least: number, most: number]>> = {},
): Widened<Defaults> {
  const options = Object.fromEntries(
    Object.entries({ ...defaults, help: false }).map(([name, value]) => [
      name,
      typeof value === 'boolean'
        ? ({ type: 'boolean', default: value } as const)
        : typeof value === 'object'
          ? { type: 'string' as const, multiple: true as const, default: [...value] }
          : ({ type: 'string', default: String(value) } as const),
    ]),
  );
  const list = Object.keys(defaults).find((name) => typeof defaults[name] === 'object');
  const { values, positionals } = parseArgs({ options, allowPositionals: list !== undefined });
  if (values.help) {
    process.stdout.write(usage);
    process.exit(0);
  }
  const read = ([name, value]: [string, unknown]): [string, unknown] => {
    if (name === list) return [name, [...(value as string[]), ...positionals]];
    if (typeof defaults[name] !== 'number') return [name, value];
    const [least, most] = ranges[name] ?? [0, Number.MAX_SAFE_INTEGER];
    if (Number(value) >= least && Number(value) <= most) return [name, Number(value)];
    process.stderr.write(`--${name} must be a number from ${least} to ${most}\n`);
    process.exit(2);
  };
  return Object.fromEntries(Object.entries(values).map(read)) as Widened<Defaults>;
}

export const sayUnless =
  (json: boolean) =>
  (text: string): void =>
    void (json || process.stdout.write(`${text}\n`));

export const logUnless =
  (json: boolean) =>
  (text: string): void =>
    sayUnless(json)(`${new Date().toISOString()} ${text}`);
