import { rpcHandlers } from '../../packages/localnet/src/rpc-handlers.ts';
import { dividedFields } from '../../src/app/cluster/worker-configuration.ts';
import { wellKnownPrograms } from '../../src/app/localnet/well-known-programs.ts';
import { command as config } from '../../src/cli/commands/config.ts';
import { command as customers } from '../../src/cli/commands/customers.ts';
import { command as db } from '../../src/cli/commands/db.ts';
import { command as doctor } from '../../src/cli/commands/doctor.ts';
import { command as keys } from '../../src/cli/commands/keys.ts';
import { command as localnet } from '../../src/cli/commands/localnet.ts';
import { command as operator } from '../../src/cli/commands/operator.ts';
import { command as plans } from '../../src/cli/commands/plans.ts';
import { command as reload } from '../../src/cli/commands/reload.ts';
import { command as up } from '../../src/cli/commands/up.ts';
import { command as upstream } from '../../src/cli/commands/upstream.ts';
import { snakeCase } from '../../src/config/option.ts';
import { singleOptions } from '../../src/config/schema.ts';
import { environmentFields } from '../../src/config/sources.ts';
import { contract } from '../../src/control/api/contract/contract.ts';
import type { Route } from '../../src/control/api/contract/route.ts';
import type { FailureRow } from '../../src/protocol/errors.ts';
import { failures } from '../../src/protocol/errors.ts';
import { type GrpcCode, numberOf } from '../../src/protocol/grpc/status.ts';
import { methods } from '../../src/protocol/methods.ts';
import { subscriptions } from '../../src/protocol/subscriptions.ts';
import { endpoints } from '../../src/rest-api/registry.ts';
import { documentedLimits } from './documented-limits.ts';
import { metricFamilies } from './metric-families.ts';
import { read, rowsIn } from './pages.ts';

/**
 * Parts of docs/ that are generated from the code, between `<!-- begin NAME -->` and `<!-- end -->`. If a column is
 * written by hand (what to do, labels), it is the last one; its cells are preserved by the first cell of their row.
 */
type Block = (written: ReadonlyMap<string, string>) => string;

export const commands = {
  up,
  localnet,
  keys,
  customers,
  plans,
  upstream,
  reload,
  db,
  operator,
  config,
  doctor,
};

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** Escapes a message, so that Markdown shows it unchanged. */
const message = (text: string): string => text.replaceAll('<', '\\<');

const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows.map((row) => row.map(cell))]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');

const nameOfProgram = (address: string): string | undefined =>
  Object.keys(wellKnownPrograms).find((name) => wellKnownPrograms[name]?.address === address);

const errorRows = Object.entries<FailureRow>(failures);

const statusNames: readonly GrpcCode[] = [
  ...(['CANCELLED', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'PERMISSION_DENIED'] as const),
  ...(['RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE'] as const),
  'UNAUTHENTICATED',
];
const statusOf = ({ grpc }: FailureRow): string =>
  statusNames.find((name) => numberOf(name) === grpc) ?? `${grpc}`;

const errorTable =
  (isRest: boolean): Block =>
  (written) =>
    tableOf(
      ['name', 'HTTP', 'JSON-RPC', 'gRPC', 'message', 'what to do'],
      errorRows
        .filter(([, { rest }]) => (rest === true) === isRest)
        .map(([name, row]) => [
          ...[name, `${row.http}`, `${row.rpc}`, statusOf(row), message(row.text)],
          written.get(name) ?? '',
        ]),
    );

/** Table of the errors that the page lists, with columns from the error definitions. */
const namedErrors =
  (head: readonly string[], columns: (row: FailureRow) => readonly string[]): Block =>
  (written) =>
    tableOf(
      head,
      [...written].map(([name, remedy]) => {
        const row = failures[name as keyof typeof failures];
        return row === undefined ? [name, 'unknown', remedy] : [name, ...columns(row), remedy];
      }),
    );

const limitTable =
  (name: string): Block =>
  (written) =>
    tableOf(
      ['limit', 'default', 'beyond it'],
      Object.entries(documentedLimits[name] ?? {}).map(([label, value]) => [
        ...[label, value],
        written.get(label) ?? '',
      ]),
    );

export const referenceBlocks: Readonly<Record<string, Block>> = {
  errors: errorTable(false),
  'rest-errors': errorTable(true),
  'error-texts': () =>
    tableOf(
      ['name', 'interface', 'message'],
      errorRows.flatMap(([name, { grpcText, restText }]) => [
        ...(grpcText === undefined ? [] : [[name, 'gRPC', message(grpcText)]]),
        ...(restText === undefined ? [] : [[name, 'REST', message(restText)]]),
      ]),
    ),
  methods: () =>
    tableOf(
      ['method', 'kind', 'credits', 'weakest commitment', 'context', 'embedded ledger'],
      Object.entries(methods).map(([name, row]) => [
        ...[name, row.kind, `${row.credits}`, row.commitment ?? '–', row.context ? 'yes' : '–'],
        name in rpcHandlers ? 'yes' : '–',
      ]),
    ),
  subscriptions: () =>
    tableOf(
      ['kind', 'subscribe', 'unsubscribe', 'notification', 'credits', 'after a node failure'],
      Object.entries(subscriptions).map(([kind, row]) => [
        ...[kind, row.subscribe, row.unsubscribe, row.notification, `${row.credits}`, row.gap],
      ]),
    ),
  'close-codes': namedErrors(['name', 'close code', 'cause and action'], ({ close }) => [`${close}`]),
  'websocket-refusals': namedErrors(['name', 'HTTP', 'what to do'], ({ http }) => [`${http}`]),
  'grpc-statuses': namedErrors(['name', 'status', 'what to do'], (row) => [statusOf(row)]),
  'sent-transaction-errors': namedErrors(['name', '`error.code`', 'what to do'], ({ rpc }) => [`${rpc}`]),
  endpoints: () =>
    tableOf(
      ['name', 'request', 'purpose'],
      endpoints.map(({ name, verb, paths, summary }) => [name, `\`${verb} ${paths[0]}\``, summary]),
    ),
  'control-routes': () =>
    tableOf(
      ['route', 'access', 'purpose'],
      Object.entries<Route>(contract).map(([name, { access, summary }]) => [`\`${name}\``, access, summary]),
    ),
  metrics: (written) =>
    tableOf(
      ['metric', 'type', 'meaning', 'labels'],
      metricFamilies.map(({ name, type, help }) => [
        `\`${name}\``,
        type,
        help,
        written.get(`\`${name}\``) ?? '',
      ]),
    ),
  'well-known-programs': () =>
    tableOf(
      ['name', 'address', 'copied with'],
      Object.entries(wellKnownPrograms).map(([name, { address, calls = [] }]) => [
        ...[`\`${name}\``, address, calls.map((each) => `\`${nameOfProgram(each)}\``).join(', ') || '–'],
      ]),
    ),
  commands: () =>
    Object.entries(commands)
      .map(([name, { help }]) => `## solway ${name}\n\n\`\`\`text\n${help.trimEnd()}\n\`\`\``)
      .join('\n\n'),
  environment: () =>
    tableOf(
      ['variable', 'setting'],
      Object.entries(environmentFields).map(([name, field]) => [`\`${name}\``, `\`${field}\``]),
    ),
  'divided-limits': () =>
    tableOf(
      ['section', 'divided among the workers'],
      Object.entries(dividedFields).flatMap(([section, fields]) => {
        const name = snakeCase(section);
        const options = fields.map(snakeCase).filter((field) => singleOptions.has(`${name}.${field}`));
        if (options.length === 0) return [];
        return [[`\`[${name}]\``, options.map((field) => `\`${field}\``).join(', ')]];
      }),
    ),
  ...Object.fromEntries(Object.keys(documentedLimits).map((name) => [name, limitTable(name)])),
};

const BLOCK = /(<!-- begin ([\w-]+) -->\n)([\s\S]*?)(\n?<!-- end -->)/g;

/** A page with regenerated blocks. @throws Error for an unknown block. */
export function withBlocks(text: string): string {
  return text.replace(BLOCK, (_, begin: string, name: string, old: string, end: string) => {
    const block = referenceBlocks[name];
    if (block === undefined) throw new Error(`there is no block "${name}"`);
    const written = new Map(rowsIn(old).map((row) => [row[0] ?? '', row.at(-1) ?? '']));
    return `${begin}${block(written)}\n${end.trimStart()}`;
  });
}

export const blocksIn = (text: string): string[] => [...text.matchAll(BLOCK)].map(([, , name = '']) => name);

export const rowsOfBlock = (page: string, name: string): string[][] =>
  rowsIn(read(page).split(`<!-- begin ${name} -->`)[1]?.split('<!-- end -->')[0] ?? '');
