/** What spreadsheets take for the start of a formula, in full width too. Source: OWASP, "CSV Injection". */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
/** What a field cannot hold without quotes. Source: RFC 4180. */
const SPECIAL = /[",\r\n]/;

/** A line of a table, without its break. Text that a spreadsheet would run as a formula gets an apostrophe in front. */
export const csvLine = (fields: readonly (string | number)[]): string => fields.map(fieldOf).join(',');

function fieldOf(field: string | number): string {
  if (typeof field === 'number') return String(field);
  const text = FORMULA.test(field) ? `'${field}` : field;
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
