/** Headers that this HTTP client controls; configured values are ignored. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const BREAKS = /[\r\n\0]/;
const LATIN1 = /^[\0-\xff]*$/;

function headerLine(name: string, value: string): Buffer {
  // The message omits the header, because its value may be a key.
  if (!NAME.test(name) || BREAKS.test(value))
    throw new TypeError('invalid node header: it contains a line break or an invalid name');
  return Buffer.from(`${name}: ${value}\r\n`, LATIN1.test(value) ? 'latin1' : 'utf8');
}

/** Header fields by lower-case name. */
function fieldsOf(url: URL, headers: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const fields = new Map([['host', url.host]]);
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (!RESERVED_HEADERS.has(lower)) fields.set(lower, value);
  }
  return fields;
}

/** Start of each request, up to the content length. May contain API keys. @throws TypeError for an invalid header. */
export function requestHead(url: URL, headers: Readonly<Record<string, string>>): Buffer {
  const lines = [...fieldsOf(url, headers)].map(([name, value]) => headerLine(name, value));
  return Buffer.concat([
    Buffer.from(`POST ${url.pathname}${url.search} HTTP/1.1\r\n`),
    ...lines,
    Buffer.from('connection: keep-alive\r\naccept-encoding: identity\r\n'),
    Buffer.from('content-type: application/json\r\ncontent-length: '),
  ]);
}

export function serverNameOf(url: URL, headers: Readonly<Record<string, string>>): string {
  const host = fieldsOf(url, headers).get('host') ?? url.host;
  return host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
}
