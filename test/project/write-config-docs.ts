import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Option, Rows } from '../../src/config/option.ts';
import { planRows, publicEntries } from '../../src/config/schema.ts';

const countRows = (rows: Rows): number =>
  Object.values(rows).reduce((count, row) => count + (row.rows ? countRows(row.rows) : 1), 0);

/** Number of options of the file, including those of list items and plans. */
export const optionCount = (): number =>
  countRows(planRows) +
  publicEntries.reduce(
    (count, [, entry]) => count + (entry.form === 'option' ? 1 : countRows(entry.rows)),
    0,
  );

const LINE_MAX = 110;

const grouped = (value: number): string =>
  value >= 10_000 ? String(value).replace(/\B(?=(\d{3})+$)/g, '_') : String(value);

function tomlOf(value: unknown): string {
  if (typeof value === 'number') return grouped(value);
  if (Array.isArray(value)) return `[${value.map(tomlOf).join(', ')}]`;
  if (typeof value === 'object' && value !== null) return '{}';
  return JSON.stringify(value);
}

/** Whether the option is commented out in the example file, because it has no default. */
const isExample = ({ default: fallback, example }: Option): boolean =>
  fallback === null || fallback === undefined || example !== undefined;

const valueText = (row: Option): string => row.example ?? (isExample(row) ? '""' : tomlOf(row.default));

/** An option with its documentation, on two lines if one would be too long. */
function optionLines(name: string, row: Option, isComment: boolean): string[] {
  const mark = isComment || isExample(row) ? '# ' : '';
  const written = `${mark}${name} = ${valueText(row)}`;
  const line = `${written}  # ${row.doc}`;
  return line.length <= LINE_MAX ? [line] : [`${isComment ? mark : ''}# ${row.doc}`, written];
}

function rowLines(table: string, rows: Rows, isComment: boolean): string[] {
  const lists = Object.entries(rows).filter(([, row]) => row.rows !== undefined);
  const plain = Object.entries(rows).filter(([, row]) => row.rows === undefined);
  return [
    ...plain.flatMap(([name, row]) => optionLines(name, row, isComment)),
    ...lists.flatMap(([name, row]) => nestedLines(`${table}.${name}`, row)),
  ];
}

function nestedLines(name: string, row: Option): string[] {
  const header = Array.isArray(row.default) ? `[[${name}]]` : `[${name}]`;
  return [`# ${header}  # ${row.doc}`, ...rowLines(name, row.rows ?? {}, true)];
}

const isCommon = (row: Option): boolean =>
  row.common === true || Object.values(row.rows ?? {}).some((one) => one.common);

/** Selects the common rows or the others, also in nested tables. */
const partOf = (rows: Rows, common: boolean): Rows =>
  Object.fromEntries(
    Object.entries(rows).flatMap(([name, row]): [string, Option][] => {
      if (row.rows === undefined) return (row.common === true) === common ? [[name, row]] : [];
      const part = partOf(row.rows, common);
      return Object.keys(part).length === 0 ? [] : [[name, { ...row, rows: part }]];
    }),
  );

type Block = Readonly<{ header: string; doc: string; rows: Rows; isComment: boolean }>;

const planBlock: Block = {
  header: '[plans.default]',
  doc: 'Plan of keys created without one; other plans: [plans.<id>].',
  rows: planRows,
  isComment: false,
};

/** Tables of the file in the order of the example, the most used first. */
function blocks(): Block[] {
  const first = ['server', 'networks', 'upstream', 'store'];
  const named = publicEntries.flatMap(([name, entry]): [string, Block][] => {
    if (entry.form === 'option') return [];
    const isList = entry.form === 'tables';
    const header = isList ? `[[${name}]]` : `[${name}]`;
    return [[name, { header, doc: entry.doc, rows: entry.rows, isComment: isList }]];
  });
  const rank = (name: string): number => (first.includes(name) ? first.indexOf(name) : first.length);
  const ordered = named.toSorted(([a], [b]) => rank(a) - rank(b)).map(([, block]) => block);
  const metrics = ordered.filter(({ header }) => header === '[metrics]');
  const others = ordered.slice(first.length).filter(({ header }) => header !== '[metrics]');
  return [...ordered.slice(0, first.length), planBlock, ...metrics, ...others];
}

const HEAD = `# Solway configuration. Copy to solway.toml, or name a file with --config or SOLWAY_CONFIG.
# Check it with "solway config check". All options: docs/reference/configuration.md.
# Secrets and addresses may be "env:NAME" (environment variable) or "file:PATH" (content of a file).
`;

const REST = `# Further options with their defaults. Uncomment a line together with the header of its table;
# a table that is open above must not be opened again: put the line there.
`;

function commonLines({ header, doc, rows, isComment }: Block): string[] {
  const all = isComment ? rows : partOf(rows, true);
  if (Object.values(rows).every((row) => !isCommon(row))) return [];
  return [
    `${isComment ? '# ' : ''}${header}  # ${doc}`,
    ...rowLines(header.slice(1, -1), all, isComment),
    '',
  ];
}

function furtherLines({ header, doc, rows, isComment }: Block): string[] {
  const hasCommon = Object.values(rows).some(isCommon);
  if (isComment && hasCommon) return [];
  const further = partOf(rows, false);
  if (Object.keys(further).length === 0) return [];
  const title = hasCommon ? `# ${header}  # continued` : `# ${header}  # ${doc}`;
  return [title, ...rowLines(header.slice(1, -1), further, true), ''];
}

function exampleFile(): string {
  const single = publicEntries.flatMap(([name, entry]) =>
    entry.form === 'option' ? optionLines(name, entry, false) : [],
  );
  const all = blocks();
  const lines = [
    ...[HEAD + single.join('\n'), ''],
    ...all.flatMap(commonLines),
    ...[REST],
    ...all.flatMap(furtherLines),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

function defaultCell(row: Option): string {
  if (row.isRequired) return 'required';
  if (row.default === null || row.default === undefined) return 'not set';
  return `\`${tomlOf(row.default)}\``;
}

function markdownRows(prefix: string, rows: Rows, isReloaded: boolean): string[] {
  return Object.entries(rows).flatMap(([name, row]) => {
    const { env, flag, secret, kind, doc } = row;
    const sources = [env, flag === undefined ? undefined : `--${flag}`].filter((one) => one !== undefined);
    const notes = [
      ...(secret ? ['Secret.'] : []),
      ...(sources.length === 0 ? [] : [`Also ${sources.map((one) => `\`${one}\``).join(', ')}.`]),
    ];
    const applied = isReloaded || row.reload ? 'reload' : 'restart';
    const cells = [`\`${prefix}${name}\``, kind.description ?? 'text', defaultCell(row), applied];
    const line = `| ${[...cells, [doc, ...notes].join(' ')].map(cell).join(' | ')} |`;
    return row.rows === undefined
      ? [line]
      : [line, ...markdownRows(`${prefix}${name}.`, row.rows, isReloaded)];
  });
}

const TABLE_HEAD = '| Option | Type | Default | Applied on | Description |\n|---|---|---|---|---|';

function referencePage(): string {
  const single = Object.fromEntries(
    publicEntries.flatMap(([name, entry]) => (entry.form === 'option' ? [[name, entry] as const] : [])),
  );
  const sections = blocks().map(({ header, doc, rows }) => {
    const isReloaded = rows === planRows || header === '[[upstream]]';
    const table = markdownRows('', rows, isReloaded).join('\n');
    return `## \`${header}\`\n\n${cell(doc)}\n\n${TABLE_HEAD}\n${table}\n`;
  });
  return `# Configuration reference

Solway reads \`solway.toml\` in the working directory, or the file that \`--config\` or \`SOLWAY_CONFIG\` names.
Environment variables override the file; command-line options override both. \`solway config check\` validates the
configuration and \`solway config show\` prints it without secrets. \`solway reload\` (or SIGHUP) rereads it: options
marked "reload" change at once, the others after a restart. An invalid file changes nothing.

Secrets may be written as \`"env:NAME"\`, an environment variable, or \`"file:PATH"\`, a file relative to the
configuration file. \`SOLWAY_PEPPER\` or \`SOLWAY_PEPPER_FILE\` sets the secret that key digests depend on; without
them the first start creates \`data_dir/pepper\`. \`npm run config:docs\` generates this page.

${TABLE_HEAD}
${markdownRows('', single, false).join('\n')}

${sections.join('\n')}`;
}

/** Files generated from the configuration schema, by path in the project. */
export const configDocs: Readonly<Record<string, () => string>> = {
  'config/solway.example.toml': exampleFile,
  'docs/reference/configuration.md': referencePage,
};

const root = join(import.meta.dirname, '../..');

if (import.meta.main)
  for (const [path, render] of Object.entries(configDocs)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), render());
  }
