import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Reload } from '../../src/app/reload.ts';
import { ActiveNodes } from '../../src/app/upstreams/active-nodes.ts';
import { createLogger, type Logger } from '../../src/base/log.ts';
import type { Configuration } from '../../src/config/configuration.ts';
import { LiveConfiguration } from '../../src/config/live-configuration.ts';
import { openDatabase, type Store } from '../../src/control/database/open.ts';
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
let inForce: ActiveNodes;
let reload: Reload;

beforeEach(async () => {
  store = await openDatabase({ file: join(temporaryFolder('reload'), 'solway.db') });
  lines = [];
  log = createLogger('info', (line) => lines.push(line));
  const configuration = load(BEFORE);
  await syncPlans(store, configuration.plans, 'test');
  live = new LiveConfiguration(configuration);
  inForce = new ActiveNodes({
    file: configuration.upstreams,
    ledger: null,
    added: [],
    defaultNetwork: configuration.networks.default,
    log,
  });
  const rereading = {
    read: () => load(null, ['--config', file]),
    logLevelOf: ({ level }: Configuration['log']) => (level === 'auto' ? 'info' : level),
  };
  reload = new Reload({ live, reloadSource: rereading, store, activeNodes: inForce, log });
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

describe('the configuration that is read again', () => {
  it('is in force at once where it can be, and names what needs a restart', async () => {
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
    expect(inForce.fixed.map(({ name }) => name)).toEqual(['first', 'second']);
    expect(await perSecond()).toBe(9);
    expect(log.level).toBe('debug');
    const detail = { changed: 'log.level, plans, request_log.per_second, upstream', restart: 'server.port' };
    expect(await audited()).toEqual([{ actor: by.actor, detail }]);
  });

  it('changes nothing when there is a mistake in it, and says where and what to write, but no secret', async () => {
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

  it('leaves all as it was where one part of the service cannot take it, and says so everywhere', async () => {
    live.follow(({ requestLog }) => {
      if (requestLog.perSecond === 7) throw new Error('no such thing');
    });
    const more = '[[upstream]]\nname = "second"\nurl = "http://127.0.0.1:2/"\n[log]\nlevel = "debug"\n';
    write(`${BEFORE.replace('20', '7').replace('= 5', '= 9')}${more}`);
    await expect(reload.forCaller(by)).rejects.toThrow('no such thing');
    expect([live.view.requestLog.perSecond, await perSecond(), log.level]).toEqual([20, 5, 'info']);
    expect(inForce.fixed.map(({ name }) => name)).toEqual(['first']);
    expect([(await audited()).length, (await undone()).length]).toEqual([1, 1]);
    expect(lines.join('')).toContain('Configuration reload failed');
    write(BEFORE.replace('20', '8'));
    expect(await reload.forCaller(by)).toMatchObject({ changed: ['request_log.per_second'] });
  });

  it('is rejected when options that need a restart contradict the others until then', async () => {
    write(
      `[networks]\ndefault = "devnet"\n${BEFORE.replace('[request_log]', 'network = "devnet"\n[request_log]')}`,
    );
    await expect(reload.forCaller(by)).rejects.toThrow(
      /networks\.default: is "mainnet-beta", for which there is no .*, or restart, which networks\.default needs/,
    );
    expect(live.view.upstreams[0]?.network).toBe('mainnet-beta');
  });

  it('is refused when it gives a node the name of one that was added', async () => {
    inForce.setAdded([
      {
        name: 'second',
        network: 'devnet',
        settings: {
          url: 'http://127.0.0.1:3/',
          ws: null,
          isWsDerived: false,
          grpc: null,
          headers: {},
          options: {},
        },
      },
    ]);
    write(`${BEFORE}[[upstream]]\nname = "second"\nurl = "http://127.0.0.1:2/"\n`);
    await expect(reload.forCaller(by)).rejects.toMatchObject({
      fields: { 'upstream[1].name': expect.stringContaining('added while the service ran') },
    });
  });

  it('says so when nothing is another', async () => {
    expect(await reload.forCaller(by)).toEqual({ changed: [], restart: [] });
  });

  it('is taken without its line in the audit log only when a signal asks for it while the database is away', async () => {
    write(BEFORE.replace('20', '7'));
    await sql`drop table audit`.execute(store.db);
    await expect(reload.forCaller(by)).rejects.toThrow('audit');
    expect(live.view.requestLog.perSecond).toBe(20);
    await reload.forSignal();
    expect(live.view.requestLog.perSecond).toBe(7);
  });
});
