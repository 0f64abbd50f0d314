/** A table of the configuration as it was written. */
export type Table = { [name: string]: unknown };

export const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Gives the value in whose place a reference stands; `field` is its dotted path. */
type Resolve = (value: unknown, field: string) => unknown;

/** Tables of nodes and servers, each with an address and headers. */
const serverLists = ['upstream', 'sender', 'das'] as const;

/** Fields that may hold a secret, by section, besides those of nodes. */
const secretFields: Readonly<Record<string, readonly string[]>> = {
  store: ['database_url'],
  cache: ['redis_url'],
  shared: ['redis_url'],
  kubo: ['url', 'authorization'],
  pinning: ['url', 'token'],
  mail: ['smtp_url'],
  metrics: ['token'],
  telemetry: ['otlp_url'],
};

function resolveFields(table: unknown, path: string, names: readonly string[], resolveOne: Resolve): unknown {
  if (!isTable(table)) return table;
  const resolved: Table = { ...table };
  for (const name of names) {
    if (name in table) resolved[name] = resolveOne(table[name], `${path}.${name}`);
  }
  return resolved;
}

/** The same for what stands in its table of headers, whatever their names are. */
function resolveHeaders(table: unknown, path: string, resolveOne: Resolve): unknown {
  if (!isTable(table) || !isTable(table.headers)) return table;
  const names = Object.keys(table.headers);
  return { ...table, headers: resolveFields(table.headers, `${path}.headers`, names, resolveOne) };
}

const resolveEach = (
  list: unknown,
  path: string,
  resolveTable: (table: unknown, path: string) => unknown,
): unknown =>
  Array.isArray(list) ? list.map((table, index) => resolveTable(table, `${path}[${index}]`)) : list;

const resolveServers = (servers: unknown, path: string, resolveOne: Resolve): unknown =>
  resolveEach(servers, path, (server, at) =>
    resolveHeaders(resolveFields(server, at, ['url', 'ws', 'grpc'], resolveOne), at, resolveOne),
  );

/** The table with another value where it has one of this name. */
function withMember(table: unknown, name: string, changed: (value: unknown) => unknown): unknown {
  return isTable(table) && name in table ? { ...table, [name]: changed(table[name]) } : table;
}

/** Puts the values in place of `env:` and `file:` references, where a reference may stand. */
export function resolveReferences(raw: Table, resolveOne: Resolve): Table {
  const resolved: Table = { ...raw };
  const change = (name: string, changed: (value: unknown) => unknown): void => {
    if (name in resolved) resolved[name] = changed(resolved[name]);
  };
  for (const name of serverLists) change(name, (list) => resolveServers(list, name, resolveOne));
  for (const [name, fields] of Object.entries(secretFields))
    change(name, (table) => resolveFields(table, name, fields, resolveOne));
  for (const name of ['entries', 'deshred'])
    change('shreds', (table) =>
      withMember(table, name, (servers) => resolveServers(servers, `shreds.${name}`, resolveOne)),
    );
  change('telemetry', (table) => resolveHeaders(table, 'telemetry', resolveOne));
  change('accounts', (table) =>
    withMember(table, 'oidc', (providers) =>
      resolveEach(providers, 'accounts.oidc', (provider, at) =>
        resolveFields(provider, at, ['client_secret'], resolveOne),
      ),
    ),
  );
  return resolved;
}
