import type { RequestStep } from '../../../protocol/request-trace.ts';
import { fieldsOf, findRow, namesOf } from '../../database/rows.ts';
import { isEntryId, timeOfId } from '../../requests/entry-ids.ts';
import { retentionLimits } from '../../requests/log-retention.ts';
import type { LogFilter } from '../../requests/log-store.ts';
import { LogTails } from '../../requests/log-tails.ts';
import { laggedLastHour, readConnections } from '../../requests/read-gateways.ts';
import { countLog, toLogEntryJson, withKeyNames } from '../../requests/read-log.ts';
import { readStatuses, readSubmissions } from '../../requests/read-submissions.ts';
import { readUnknownMethods } from '../../requests/read-unknown-methods.ts';
import { invalidFields, notFound } from '../api-error.ts';
import type { ParsedRouteInput, RouteOutput } from '../contract/contract.ts';
import type { ConnectionJson } from '../contract/logs.ts';
import { decodeCursor, encodeCursor, pageOfRows } from '../cursor.ts';
import { type ApiContext, callerKeyOf, defineHandlers } from '../handler.ts';
import { type ApiServices, type LogServices, logStoreOf } from '../services.ts';
import { withAudit } from './audit.ts';

type Submission = RouteOutput<'GET /customers/{customer}/transactions'>['items'][number];
type LogsInput = ParsedRouteInput<'GET /customers/{customer}/logs'>;

const HOUR_MS = 3_600_000;

/** Without a gateway, nothing is logged. */
const noLog: Omit<LogServices, 'store'> = {
  settings: { sampleRatio: 0, perSecond: 0, retentionHours: retentionLimits.retentionHours },
  tails: new LogTails(),
};

function rangeOf({ from, to }: Pick<LogsInput['query'], 'from' | 'to'>, now: number) {
  const end = to ?? now + 1;
  const range = { from: from ?? Math.max(0, end - HOUR_MS), to: end };
  if (range.from < range.to) return range;
  throw invalidFields('from must be before to', { from: 'must be before to' });
}

/** A request id names a time, so the time range does not matter. */
function listRangeOf({ search = '', from, to }: LogsInput['query'], now: number) {
  const id = search.trim();
  return isEntryId(id) ? { from: timeOfId(id), to: timeOfId(id) + 1 } : rangeOf({ from, to }, now);
}

async function listLog(services: ApiServices, { path, query }: LogsInput, isOperator: boolean) {
  const { store, now } = services;
  const { sampleRatio: share, perSecond, retentionHours: keptHours } = (services.log ?? noLog).settings;
  const { cursor, limit, ...fields } = query;
  const after = decodeCursor(cursor, 'string');
  const filter: LogFilter = { ...fields, ...listRangeOf(query, now()) };
  const { rows, end } = await logStoreOf(services).list(path.customer, filter, limit + 1, after);
  const named = await withKeyNames(store, rows);
  const page = pageOfRows(named, limit, (row) => toLogEntryJson(row, isOperator));
  const next = page.next ?? (end === null ? null : encodeCursor(end));
  return { ...page, next, sampling: { share, perSecond, keptHours } };
}

const sumOf = (items: readonly ConnectionJson[], name: 'messagesPerSecond' | 'bytesPerSecond'): number =>
  items.reduce((sum, item) => sum + item[name], 0);

async function listConnections(
  { store, now }: ApiServices,
  { path, query }: ParsedRouteInput<'GET /customers/{customer}/connections'>,
) {
  const items = await readConnections(store, path.customer, query.key);
  const websocket = items.filter(({ kind }) => kind === 'websocket').length;
  const totals = {
    websocket,
    grpc: items.length - websocket,
    messagesPerSecond: sumOf(items, 'messagesPerSecond'),
    bytesPerSecond: sumOf(items, 'bytesPerSecond'),
  };
  return { items, totals, laggedLastHour: await laggedLastHour(store, path.customer, now()) };
}

function closeConnection(services: ApiServices, customerId: string, id: string, context: ApiContext) {
  return withAudit(services, context, async (trx) => {
    const row = await findRow(trx, 'connection', { id, customer_id: customerId });
    if (row === undefined) throw notFound('Connection not found. It may have ended.');
    await trx
      .insertInto('connection_close')
      .values({ connection_id: id, gateway: row.gateway, asked_at: services.now() })
      .onConflict((conflict) => conflict.column('connection_id').doNothing())
      .execute();
    const detail = { connection: id, kind: row.kind };
    const change = { action: 'connection.close', customerId, keyId: row.key_id, detail };
    return [{ done: true as const }, change];
  });
}

/** Only operators see the names of nodes. */
function attemptsIn<Attempt extends Readonly<{ node: string | null }>>(json: string, isOperator: boolean) {
  const attempts = JSON.parse(json) as Attempt[];
  return isOperator ? attempts : attempts.map((attempt) => ({ ...attempt, node: null }));
}

async function listTransactions(
  { store, dispatcher }: ApiServices,
  { path, query }: ParsedRouteInput<'GET /customers/{customer}/transactions'>,
  isOperator: boolean,
) {
  const { cursor, limit, ...filter } = query;
  const after = decodeCursor(cursor, 'string');
  const rows = await readSubmissions(store, path.customer, filter, limit + 1, after);
  const statuses = await readStatuses(dispatcher, rows.slice(0, limit));
  const keys = await namesOf(
    store.db,
    'api_key',
    rows.map(({ key_id }) => key_id),
  );
  return pageOfRows(rows, limit, (row) => ({
    keyName: keys.get(row.key_id) ?? null,
    ...fieldsOf(row, 'signature', 'at', 'key_id', 'network', 'outcome', 'message', 'rebroadcasts'),
    attempts: attemptsIn<Submission['attempts'][number]>(row.attempts, isOperator),
    again: attemptsIn<Submission['again'][number]>(row.again ?? '[]', isOperator),
    fate: row.fate === null ? null : { name: row.fate, slot: row.fate_slot, err: row.fate_err },
    status: statuses.get(row.signature) ?? null,
  }));
}

export const logHandlers = (services: ApiServices) =>
  defineHandlers({
    'GET /customers/{customer}/logs': (input, { role }) => listLog(services, input, role === 'operator'),
    async 'GET /customers/{customer}/logs/histogram'({ path, query }) {
      return countLog(logStoreOf(services), path.customer, { ...query, ...rangeOf(query, services.now()) });
    },
    async 'GET /customers/{customer}/logs/tail'({ path, query }, { signal, caller, role }) {
      const { from: _, to: __, ...filter } = query;
      const { tails } = services.log ?? noLog;
      const follower = { id: callerKeyOf(caller), isOperator: role === 'operator' };
      const { store, now } = services;
      const log = logStoreOf(services);
      return tails.follow({ store, log, customerId: path.customer, filter, now, signal, follower });
    },
    async 'GET /customers/{customer}/logs/{entry}'({ path }, { role }) {
      const { customer, entry } = path;
      const found = isEntryId(entry) ? await logStoreOf(services).find(customer, entry) : undefined;
      const [row] = await withKeyNames(services.store, found === undefined ? [] : [found]);
      if (row === undefined) throw notFound('Request not found. It may be older than the retention period.');
      const isOperator = role === 'operator';
      const steps = attemptsIn<RequestStep>(row.steps, isOperator);
      return { ...toLogEntryJson(row, isOperator), steps, params: row.params, result: row.result };
    },
    async 'GET /unknown-methods'({ query }) {
      const { store, now } = services;
      return { methods: await readUnknownMethods(store, { ...query, ...rangeOf(query, now()) }) };
    },
    'GET /customers/{customer}/connections': (input) => listConnections(services, input),
    'DELETE /customers/{customer}/connections/{connection}': ({ path }, context) =>
      closeConnection(services, path.customer, path.connection, context),
    'GET /customers/{customer}/transactions': (input, { role }) =>
      listTransactions(services, input, role === 'operator'),
  });
