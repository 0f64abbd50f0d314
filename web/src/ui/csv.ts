/** Characters that start a formula in spreadsheets, including full-width forms. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

function cell(value: number | string | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** RFC 4180 rows. Escapes cells that a spreadsheet would evaluate. */
export const toCsv = (
  head: readonly string[],
  rows: readonly (readonly (number | string | null)[])[],
): string => [head, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');

export function downloadText(fileName: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(address);
}
