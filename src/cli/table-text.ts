/** Formats an aligned table for a terminal. @param table - header and rows, each with the same number of cells. */
export function tableText(table: readonly (readonly string[])[]): string {
  const [head = []] = table;
  const widths = head.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
  return `${table.map(line).join('\n')}\n`;
}
