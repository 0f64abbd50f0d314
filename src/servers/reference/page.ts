import { escapeHtml } from '../../base/text/escape-html.ts';

type Schema = Readonly<{
  type?: string | readonly string[];
  description?: string;
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  anyOf?: readonly Schema[];
}>;

type Parameter = Readonly<{ name: string; required: boolean; description?: string; schema: Schema }>;

type Content = Readonly<{ content: Readonly<Record<string, Readonly<{ schema: Schema }>>> }>;

type Operation = Readonly<{
  operationId: string;
  tags: readonly string[];
  summary: string;
  description?: string;
  parameters?: readonly Parameter[];
  requestBody?: Content;
  responses: Readonly<Record<string, Readonly<{ description: string }> & Partial<Content>>>;
}>;

export type ApiDocument = Readonly<{
  info: Readonly<{ title: string; version: string }>;
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}>;

type Endpoint = Readonly<{ path: string; verb: string; operation: Operation }>;

/** Descriptions use backticks but no other Markdown. */
const prose = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');

function typeText(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeText).join(' | ');
  if (schema.items !== undefined) return `${typeText(schema.items)}[]`;
  return [schema.type ?? 'any'].flat().join(' | ');
}

function rangeText({ minimum, maximum, minItems, maxItems, default: absent }: Schema): string {
  const parts: string[] = [];
  const isBounded = minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  if (isBounded) parts.push(`${minimum} to ${maximum}`);
  if (maxItems !== undefined) parts.push(`${minItems ?? 0} to ${maxItems} items`);
  if (absent !== undefined) parts.push(`default ${JSON.stringify(absent)}`);
  return parts.length === 0 ? '' : `(${parts.join('; ')})`;
}

const fieldRow = (name: string, schema: Schema, isRequired: boolean, description?: string): string =>
  `<tr><td><code>${escapeHtml(name)}</code></td><td>${escapeHtml(typeText(schema))}</td><td>${
    isRequired ? 'required' : ''
  }</td><td>${prose([description ?? schema.description ?? '', rangeText(schema)].filter(Boolean).join(' '))}</td></tr>`;

const table = (rows: readonly string[]): string =>
  rows.length === 0
    ? '<p>None.</p>'
    : `<table><thead><tr><th>Name</th><th>Type</th><th></th><th>Description</th></tr></thead>
<tbody>${rows.join('')}</tbody></table>`;

/** Rows of all members. The names of nested members contain dots and brackets. */
function memberRows(schema: Schema, prefix = ''): string[] {
  if (schema.items !== undefined) return memberRows(schema.items, `${prefix}[]`);
  const members = Object.entries(schema.properties ?? {});
  const dot = prefix === '' ? '' : '.';
  return members.flatMap(([name, member]) => [
    fieldRow(`${prefix}${dot}${name}`, member, false),
    ...memberRows(member, `${prefix}${dot}${name}`),
  ]);
}

const schemaOf = (content: Partial<Content> | undefined): Schema =>
  Object.values(content?.content ?? {})[0]?.schema ?? {};

function requestTable({ parameters, requestBody }: Operation): string {
  const { properties, required } = schemaOf(requestBody);
  return table([
    ...(parameters ?? []).map((one) => fieldRow(one.name, one.schema, one.required, one.description)),
    ...Object.entries(properties ?? {}).map(([name, schema]) =>
      fieldRow(name, schema, required?.includes(name) ?? false),
    ),
  ]);
}

const sampleOf = ({ enum: values, default: absent, type, items }: Schema): unknown => {
  if (absent !== undefined) return absent;
  if (values !== undefined) return values[0];
  if (type === 'integer' || type === 'number') return 1;
  if (type === 'boolean') return true;
  return items === undefined ? '…' : [sampleOf(items)];
};

function curl({ path, verb, operation }: Endpoint, origin: string): string {
  const head = `curl -H "x-api-key: $SOLWAY_KEY"`;
  if (operation.requestBody === undefined) {
    const query = (operation.parameters ?? [])
      .filter(({ required }) => required)
      .map(({ name }) => `${name}=…`)
      .join('&');
    return `${head} "${origin}${path}${query === '' ? '' : `?${query}`}"`;
  }
  const { properties, required } = schemaOf(operation.requestBody);
  if ('multipart/form-data' in operation.requestBody.content) {
    return `${head} -F file=@picture.png ${origin}${path}`;
  }
  const body = Object.fromEntries((required ?? []).map((name) => [name, sampleOf(properties?.[name] ?? {})]));
  return `${head} -X ${verb} -H "content-type: application/json" \\\n  -d '${JSON.stringify(body)}' ${origin}${path}`;
}

function failureTable({ responses }: Operation): string {
  const rows = Object.entries(responses)
    .filter(([http]) => http !== '200')
    .map(([http, { description }]) => `<tr><td>${escapeHtml(http)}</td><td>${prose(description)}</td></tr>`);
  const head = '<tr><th>HTTP</th><th><code>error.code</code> and message</th></tr>';
  return `<table><thead>${head}</thead><tbody>${rows.join('')}</tbody></table>`;
}

function section(endpoint: Endpoint, origin: string): string {
  const { path, verb, operation } = endpoint;
  const result = schemaOf(operation.responses['200']).properties?.result ?? {};
  const rows = memberRows(result);
  return `<section id="${escapeHtml(operation.operationId)}">
<h3><span class="verb">${escapeHtml(verb)}</span> ${escapeHtml(path)}</h3>
<p>${prose(operation.summary)}.</p>
${(operation.description ?? '')
  .split('\n\n')
  .filter(Boolean)
  .map((text) => `<p>${prose(text)}</p>`)
  .join('')}
<h4>Request</h4>${requestTable(operation)}
<pre tabindex="0">${escapeHtml(curl(endpoint, origin))}</pre>
<h4>Result</h4>${rows.length === 0 ? `<p>${escapeHtml(typeText(result))}</p>` : table(rows)}
<h4>Errors</h4>${failureTable(operation)}
</section>`;
}

const STYLE = `:root{color-scheme:light dark;--page:#fff;--text:#1b1f24;--link:#0b5cad;--line:#8884}
@media (prefers-color-scheme:dark){:root{--page:#14171a;--text:#e6e8ea;--link:#8ab8ff}}
body{background:var(--page);color:var(--text);font:15px/1.55 system-ui,sans-serif;margin:0 auto;
max-width:62rem;padding:1.5rem}a{color:var(--link)}
nav ul{columns:18rem;padding-left:1.1rem}section{border-top:1px solid var(--line);margin-top:2rem}
.verb{font-size:.8em;border:1px solid var(--line);border-radius:4px;padding:.1em .4em}
table{border-collapse:collapse;width:100%}
th,td{border-bottom:1px solid var(--line);padding:.3rem .5rem;text-align:left;vertical-align:top}
code,pre{font-family:ui-monospace,monospace;font-size:.92em}
pre{overflow:auto;border:1px solid var(--line);border-radius:6px;padding:.7rem}
td:first-child{white-space:nowrap}
@media (max-width:48rem){td:first-child{white-space:normal}h3,p,th,td{overflow-wrap:anywhere}}`;

/** Renders one HTML page without scripts. @param origin - scheme and host for the example requests. */
export function referencePage(document: ApiDocument, origin: string): string {
  const endpoints = Object.entries(document.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({ path, verb: verb.toUpperCase(), operation })),
  );
  const groups = [...new Set(endpoints.flatMap(({ operation }) => operation.tags))];
  const links = endpoints.map(
    ({ path, operation }) =>
      `<li><a href="#${escapeHtml(operation.operationId)}">${escapeHtml(path)}</a></li>`,
  );
  const sections = groups.map(
    (group) =>
      `<h2>${escapeHtml(group)}</h2>${endpoints
        .filter(({ operation }) => operation.tags.includes(group))
        .map((endpoint) => section(endpoint, origin))
        .join('\n')}`,
  );
  const title = `${document.info.title} ${document.info.version}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body>
<header><a href="/docs">Solway docs</a></header>
<main>
<h1>${escapeHtml(title)}</h1>
<p>Every request needs an API key (<code>svc_rpc_live_…</code>), in the header <code>x-api-key</code>, as
<code>Authorization: Bearer</code>, or as the query parameter <code>api-key</code>. Successful responses are
<code>{"success": true, "message": …, "result": …}</code>; errors are
<code>{"success": false, "message": …, "error": {"code": …, "message": …}}</code> with a matching HTTP status.
This reference is also available as <a href="/openapi.json">OpenAPI 3.1</a>.</p>
<nav><ul>${links.join('')}</ul></nav>
${sections.join('\n')}
</main>
</body></html>
`;
}
