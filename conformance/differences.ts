import type { JsonValue } from '../src/base/json.ts';

/** A difference at a path such as `.value.lamports`. */
export type Difference = Readonly<{
  path: string;
  ours: JsonValue | undefined;
  theirs: JsonValue | undefined;
}>;

type Members = { readonly [name: string]: JsonValue };
const isObject = (value: JsonValue | undefined): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isNumber = (value: JsonValue | undefined): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

/** Whether two leaves match. */
type LeafRule = (ours: JsonValue | undefined, theirs: JsonValue | undefined, path: string) => boolean;

function collectDifferences(
  ours: JsonValue | undefined,
  theirs: JsonValue | undefined,
  path: string,
  isFit: LeafRule,
  found: Difference[],
): void {
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    if (ours.length !== theirs.length)
      found.push({ path: `${path}.length`, ours: ours.length, theirs: theirs.length });
    const length = Math.min(ours.length, theirs.length);
    for (let i = 0; i < length; i++) collectDifferences(ours[i], theirs[i], `${path}[${i}]`, isFit, found);
  } else if (isObject(ours) && isObject(theirs)) {
    for (const name of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
      collectDifferences(ours[name], theirs[name], `${path}.${name}`, isFit, found);
    }
  } else if (!isFit(ours, theirs, path)) {
    found.push({ path: path === '' ? '.' : path, ours, theirs });
  }
}

/** Integers as bigint, so that 1 equals 1n. */
const exact = (value: number | bigint): number | bigint =>
  typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value;

const isEqual: LeafRule = (ours, theirs) =>
  ours === theirs || (isNumber(ours) && isNumber(theirs) && exact(ours) === exact(theirs));

/** All differences between two values. */
export function differences(ours: JsonValue | undefined, theirs: JsonValue | undefined): Difference[] {
  const found: Difference[] = [];
  collectDifferences(ours, theirs, '', isEqual, found);
  return found;
}

const kindOf = (value: JsonValue | undefined): string => {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  return isNumber(value) ? 'number' : Array.isArray(value) ? 'array' : typeof value;
};

function collectShapeDifferences(
  ours: JsonValue | undefined,
  theirs: JsonValue | undefined,
  path: string,
  found: Difference[],
): void {
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    // Only first entries are compared, because the lists are specific to the node.
    if (ours.length > 0 && theirs.length > 0)
      collectShapeDifferences(ours[0], theirs[0], `${path}[0]`, found);
  } else if (isObject(ours) && isObject(theirs)) {
    for (const name of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
      collectShapeDifferences(ours[name], theirs[name], `${path}.${name}`, found);
    }
  } else if (kindOf(ours) !== kindOf(theirs) && ours !== null && theirs !== null) {
    found.push({ path: path === '' ? '.' : path, ours, theirs });
  }
}

/** Differences in members or JSON types; null matches any type, an empty list any list. */
export function shapeDifferences(ours: JsonValue | undefined, theirs: JsonValue | undefined): Difference[] {
  const found: Difference[] = [];
  collectShapeDifferences(ours, theirs, '', found);
  return found;
}

/**
 * Differences of `theirs` from the range between two responses before and after it. Numbers may be between both, with
 * the tolerance of `slackOf`; other values must equal one of them.
 */
export function differencesBetween(
  before: JsonValue | undefined,
  theirs: JsonValue | undefined,
  after: JsonValue | undefined,
  slackOf: (path: string) => number,
): Difference[] {
  const afterAt = new Map<string, JsonValue | undefined>();
  const note: LeafRule = (value, _, path) => {
    afterAt.set(path, value);
    return true;
  };
  collectDifferences(after, theirs, '', note, []);
  const found: Difference[] = [];
  const isBetween: LeafRule = (from, value, path) => {
    const to = afterAt.get(path);
    if (isEqual(from, value, path) || isEqual(to, value, path)) return true;
    if (!isNumber(from) || !isNumber(value) || !isNumber(to)) return false;
    const [low, high] = [Number(from), Number(to)].sort((a, b) => a - b) as [number, number];
    const slack = slackOf(path);
    return Number(value) >= low - slack && Number(value) <= high + slack;
  };
  collectDifferences(before, theirs, '', isBetween, found);
  return found;
}
