import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Reload } from '../../src/app/reload.ts';
import { ActiveNodes } from '../../src/app/upstreams/active-nodes.ts';
import { createLogger, type Logger } from '../../src/base/log.ts';
import type { Configuration } from '../../src/config/configuration.ts';
import { LiveConfiguration } from '../../src/config/live-configuration.ts';
import { openDatabase } from '../../src/control/database/open.ts';
import type { Store } from '../../src/control/database/store.ts';
import { syncPlans } from '../../src/control/plans.ts';
import { temporaryFolder } from '../service/program.ts';
import { file, load } from './load-configuration.ts';

const NODE = '[[upstream]]\nname = "first"\nurl = "http://127.0.0.1:1/the-key-of-first"\n';
const BEFORE = `${NODE}[request_log]\nper_second = 20\n[plans.default]\nrpc_per_second = 5\n`;
const by = { actor: 'user:op@example.com', address: '192.0.2.1', userAgent: 'test', requestId: 'r1' };

let store: Store;
let lines: string[];
let log: Logger;
let live: LiveConfiguration;
let activeNodes: ActiveNodes;
let reload: Reload;

beforeEach(async () => {
  store = await openDatabase({ file: join(temporaryFolder('reload'), 'solway.db') });
  lines = [];
  log = createLogger('info', (line) => lines.push(line));
  const configuration = load(BEFORE);
  await syncPlans(store, configuration.plans, 'test');
  live = new LiveConfiguration(configuration);
  activeNodes = new ActiveNodes({
    fileNodes: configuration.upstreams,
    ledgerNode: null,
    addedNodes: [],
    networks: configuration.networks,
    log,
  });
  const reloadSource = {
    read: () => load(null, ['--config', file]),
    logLevelOf: ({ level }: Configuration['log']) => (level === 'auto' ? 'info' : level),
  };
  reload = new Reload({ live, reloadSource, store, activeNodes, log });
});
afterEach(() => store.close());

const write = (toml: string): void => writeFileSync(file, toml);
const perSecond = async (): Promise<number> => {
  const row = await store.db
    .selectFrom('plan')
    .select('rpc_per_second')
    .where('id', '=', 'default')
    .executeTakeFirstOrThrow();
  return row.rpc_per_second;
};
const audited = async () => {
  const rows = await store.db
    .selectFrom('audit')
    .selectAll()
    .where('action', '=', 'configuration.reload')
    .execute();
  return rows.map(({ actor, detail }) => ({ actor, detail: JSON.parse(detail) as unknown }));
};
const undone = async () =>
  (await store.db.selectFrom('audit').selectAll().execute()).filter(
    ({ action }) => action === 'configuration.reload-undone',
  );

describe('a configuration reload', () => {
  it('applies reloadable options immediately, and reports those that need a restart', async () => {
    const { requestLog } = live.view;
    const more = '[[upstream]]\nname = "second"\nurl = "http://127.0.0.1:2/"\n';
    write(
      `${NODE}${more}[request_log]\nper_second = 7\n[plans.default]\nrpc_per_second = 9\n[server]\nport = 9999\n[log]\nlevel = "debug"\n`,
    );
    expect(await reload.forCaller(by)).toEqual({
      changed: ['log.level', 'plans', 'request_log.per_second', 'upstream'],
      restart: ['server.port'],
    });
    expect(requestLog.perSecond).toBe(7);
    expect(live.view.server.port).toBe(8080);
    expect(activeNodes.fixedNodes.map(({ name }) => name)).toEqual(['first', 'second']);
    expect(await perSecond()).toBe(9);
    expect(log.level).toBe('debug');
    const detail = { changed: 'log.level, plans, request_log.per_second, upstream', restart: 'server.port' };
    expect(await audited()).toEqual([{ actor: by.actor, detail }]);
  });

  it('applies no nodes of a network that it does not know yet', async () => {
    const more = '[[upstream]]\nname = "second"\nurl = "http://127.0.0.1:2/"\nnetwork = "staging"\n';
    write(`${BEFORE}${more}[networks.custom]\nstaging = ""\n`);
    expect(await reload.forCaller(by)).toEqual({ changed: [], restart: ['networks.custom', 'upstream'] });
    expect(activeNodes.fixedNodes.map(({ name }) => name)).toEqual(['first']);
  });

  it('changes nothing on an error, and reports option and remedy without secrets', async () => {
    write(`${BEFORE.replace('20', '7').replace('= 5', '= 9')}[server]\nport = 99999\n`);
    await expect(reload.forCaller(by)).rejects.toMatchObject({
      status: 409,
      code: 'INVALID_CONFIGURATION',
      fields: { 'server.port': '99999 is not a whole number from 0 to 65535' },
    });
    write('[[upstream]]\nurl = "ftp://u:the-key-of-first@host/the-key-of-first"\n');
    await expect(reload.forCaller(by)).rejects.toThrow('upstream[0].url');
    await reload.forSignal();
    expect(live.view.requestLog.perSecond).toBe(20);
    expect(await perSecond()).toBe(5);
    expect(await audited()).toEqual([]);
    expect(lines.filter((line) => line.includes('Configuration reload rejected'))).toHaveLength(3);
    expect(lines.join('')).not.toContain('the-key-of-first');
  });

  it('is undone if a part of the service rejects it', async () => {
    live.follow(({ requestLog }) => {
      if (requestLog.perSecond === 7) throw new Error('no such thing');
    });
    const more = '[[upstream]]\nname = "second"\nurl = "http://127.0.0.1:2/"\n[log]\nlevel = "debug"\n';
    write(`${BEFORE.replace('20', '7').replace('= 5', '= 9')}${more}`);
    await expect(reload.forCaller(by)).rejects.toThrow('no such thing');
    expect([live.view.requestLog.perSecond, await perSecond(), log.level]).toEqual([20, 5, 'info']);
    expect(activeNodes.fixedNodes.map(({ name }) => name)).toEqual(['first']);
    expect([(await audited()).length, (await undone()).length]).toEqual([1, 1]);
    expect(lines.join('')).toContain('Configuration reload failed');
    write(BEFORE.replace('20', '8'));
    expect(await reload.forCaller(by)).toMatchObject({ changed: ['request_log.per_second'] });
  });

  it('works without the audit log only on a signal', async () => {
    write(BEFORE.replace('20', '7'));
    await sql`drop table audit`.execute(store.db);
    await expect(reload.forCaller(by)).rejects.toThrow('audit');
    expect(live.view.requestLog.perSecond).toBe(20);
    await reload.forSignal();
    expect(live.view.requestLog.perSecond).toBe(7);
  });
});
