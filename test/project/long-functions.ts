/** A line that opens a body: of a function, method or arrow, or the end of a signature that was wrapped. */
const OPENING = /^(?<indent>\s*)(?:.*\)[^;]*|.*=>\s*)\{$/;
/** Blocks and suites are not functions of their own. */
const NO_FUNCTION =
  /^\s*(?:\}|if\b|for\b|while\b|switch\b|else\b|try\b|catch\b|describe[.(]|it[.(]|return\b)/;

/**
 * Functions longer than so many lines, by their indentation: Biome's formatter makes that exact.
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
