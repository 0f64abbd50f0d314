type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** The type with `snake_case` names written as `camelCase`, all the way down. */
export type CamelNames<Value> = Value extends readonly (infer Item)[]
  ? readonly CamelNames<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value & string as CamelCase<Name>]: CamelNames<Value[Name]> }
    : Value;

/** Members whose own names are the user's words and stay as they are. */
const VERBATIM: ReadonlySet<string> = new Set(['headers']);

const camelCase = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** The configuration file speaks TOML's `snake_case`, the program `camelCase`. */
export function camelNames<Value>(value: Value): CamelNames<Value> {
  if (Array.isArray(value)) return value.map(camelNames) as CamelNames<Value>;
  if (typeof value !== 'object' || value === null) return value as CamelNames<Value>;
  const members = Object.entries(value).map(([name, member]) => [
    camelCase(name),
    VERBATIM.has(name) ? member : camelNames(member),
  ]);
  return Object.fromEntries(members) as CamelNames<Value>;
}

function distance(left: string, right: string): number {
  let before = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const row = [i];
    for (let j = 1; j <= right.length; j++) {
      const change = before[j - 1]! + (left[i - 1] === right[j - 1] ? 0 : 1);
      row.push(Math.min(change, before[j]! + 1, row[j - 1]! + 1));
    }
    before = row;
  }
  return before[right.length]!;
}

const COMPARED_LENGTH_MAX = 64;

/** The known name that a mistyped one most likely meant; null when none is near. */
export function nearestName(wrong: string, candidates: readonly string[]): string | null {
  const typed = wrong.slice(0, COMPARED_LENGTH_MAX).toLowerCase().replaceAll('-', '_');
  const ranked = candidates
    .map((name) => ({ name, steps: distance(typed, name.toLowerCase()) }))
    .sort((a, b) => a.steps - b.steps);
  const best = ranked[0];
  return best !== undefined && best.steps <= Math.max(2, Math.floor(best.name.length / 3)) ? best.name : null;
}
