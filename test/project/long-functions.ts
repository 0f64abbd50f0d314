/** Line that opens the body of a function, method or arrow function, or ends a wrapped signature. */
const OPENING = /^(?<indent>\s*)(?:.*\)[^;]*|.*=>\s*)\{$/;
/** Blocks and test suites do not count as functions. */
const NO_FUNCTION =
  /^\s*(?:\}|if\b|for\b|while\b|switch\b|else\b|try\b|catch\b|describe[.(]|it[.(]|return\b)/;

/**
 * Finds functions with more than `most` lines by indentation, which is exact because Biome formats the code.
 * @returns the line (from 1) where each body opens, and its length.
 */
export function longFunctions(lines: readonly string[], most: number): { line: number; length: number }[] {
  const found: { line: number; length: number }[] = [];
  lines.forEach((text, start) => {
    const indent = OPENING.exec(text)?.groups?.indent;
    if (indent === undefined || NO_FUNCTION.test(text)) return;
    const end = lines.findIndex((other, at) => at > start && other.startsWith(`${indent}}`));
    if (end - start > most) found.push({ line: start + 1, length: end - start });
  });
  return found;
}
