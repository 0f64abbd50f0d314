import { ArgumentsError } from '../../config/errors.ts';

/** Names of the values of each option that takes several; null for any number of values, up to the next option. */
export type SeveralValues = ReadonlyMap<string, readonly string[] | null>;

/** Values by option, one entry for each use of the option. */
export type Groups = ReadonlyMap<string, readonly (readonly string[])[]>;

/** Separates the options with several values, which node:util cannot parse. @throws ArgumentsError if one is missing */
export function splitGroups(
  args: readonly string[],
  severalValues: SeveralValues,
): { rest: string[]; groups: Groups } {
  const rest: string[] = [];
  const groups = new Map<string, string[][]>();
  for (let i = 0; i < args.length; i++) {
    const { name, inline } = nameAndValue(args[i] ?? '', severalValues);
    const valueNames = severalValues.get(name);
    if (valueNames === undefined) {
      rest.push(args[i] ?? '');
      continue;
    }
    const following = valueNames === null ? countValues(args, i + 1) : valueNames.length - inline.length;
    const values = [...inline, ...args.slice(i + 1, i + 1 + following)];
    requireValues(name, values, valueNames);
    groups.set(name, [...(groups.get(name) ?? []), values]);
    i += following;
  }
  return { rest, groups };
}

/** `--clone=ADDRESS` is `--clone ADDRESS`. Options with a fixed number of values have no such form. */
function nameAndValue(text: string, severalValues: SeveralValues): { name: string; inline: string[] } {
  const end = text.indexOf('=');
  const name = end === -1 ? text : text.slice(0, end);
  return end !== -1 && severalValues.get(name) === null
    ? { name, inline: [text.slice(end + 1)] }
    : { name: text, inline: [] };
}

function countValues(args: readonly string[], from: number): number {
  const next = args.findIndex((text, index) => index >= from && text.startsWith('-'));
  return (next === -1 ? args.length : next) - from;
}

function requireValues(name: string, values: readonly string[], valueNames: readonly string[] | null): void {
  if (valueNames === null) {
    if (values.length === 0) throw new ArgumentsError(`${name} needs a value`);
  } else if (values.length < valueNames.length) {
    const count = valueNames.length === 2 ? 'two' : 'three';
    throw new ArgumentsError(`${name} needs ${count} values: ${name} ${valueNames.join(' ')}`);
  }
}
