/** Fields that say how a request is sent, which is ours to say; what a configuration says of them is left out. */
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
  // Neither is told: the value may be a key.
  if (!NAME.test(name) || BREAKS.test(value))
    throw new TypeError('a header of a node is not one line of text');
  return Buffer.from(`${name}: ${value}\r\n`, LATIN1.test(value) ? 'latin1' : 'utf8');
}

/** By the name in lower case: what is named last counts. */
function fieldsOf(url: URL, headers: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const fields = new Map([['host', url.host]]);
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (!RESERVED_HEADERS.has(lower)) fields.set(lower, value);
  }
  return fields;
}

/**
 * What every request to a node begins with, up to where the number of bytes of its body belongs. Made once: it holds the
 * keys of the node.
 * @throws TypeError for a header that would break out of its line.
 */
export function requestHead(url: URL, headers: Readonly<Record<string, string>>): Buffer {
  const lines = [...fieldsOf(url, headers)].map(([name, value]) => headerLine(name, value));
  return Buffer.concat([
    Buffer.from(`POST ${url.pathname}${url.search} HTTP/1.1\r\n`),
    ...lines,
    Buffer.from('connection: keep-alive\r\naccept-encoding: identity\r\n'),
    Buffer.from('content-type: application/json\r\ncontent-length: '),
  ]);
}

/** The name that a node shows its certificate for: that of the `host` header, where one is configured. */
export function serverNameOf(url: URL, headers: Readonly<Record<string, string>>): string {
  const host = fieldsOf(url, headers).get('host') ?? url.host;
  return host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
}
