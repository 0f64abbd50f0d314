import { type Html, html, type Part } from './html.ts';

/** A column: its head, whether it holds numbers, and what stands in it. */
export type Column<Row> = Readonly<{ head: string; isNumber?: boolean; cell: (row: Row) => Part }>;

const classOf = ({ isNumber = false }: { isNumber?: boolean }): string => (isNumber ? 'number' : '');

/** A table with a head. */
export function tableOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Html {
  const head = columns.map((column) => html`<th scope="col" class="${classOf(column)}">${column.head}</th>`);
  const body = rows.map(
    (
      row,
    ) => html`<tr>${columns.map((column) => html`<td class="${classOf(column)}">${column.cell(row)}</td>`)}</tr>
`,
  );
  return html`<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>
${body}</tbody></table></div>`;
}

/** A table that is opened by who wants it: the figures behind a plot. */
export const folded = (title: string, table: Html): Html =>
  html`<details><summary>${title}</summary>${table}</details>`;

/** A number with as many digits as say something; a dash for none. */
export function numberText(value: number | null, digits = 1): string {
  if (value === null) return '–';
  return value.toLocaleString('en', { maximumFractionDigits: value >= 100 ? 0 : digits });
}
