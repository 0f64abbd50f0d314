import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ByteWriter } from '../../../../src/base/bytes.ts';
import { createLogger } from '../../../../src/base/log.ts';
import { type Address, addressBytes } from '../../../../src/solana/address.ts';
import { programs } from '../../../../src/solana/programs.ts';
import { U64_MAX } from '../../../../src/solana/units.ts';
import { programDataAddressOf } from '../../src/bank/vm-accounts.ts';
import { type CloneRequest, cloneAccounts } from '../../src/fork/clone-accounts.ts';
import { RemoteAccounts } from '../../src/fork/remote-accounts.ts';
import { Lab } from '../ledger/lab.ts';
import { openRig } from '../rig.ts';
import { account, key } from '../support/accounts.ts';
import { openRemoteCluster, openScripted, type RemoteCluster } from './remote-cluster.ts';

const CODE = key(51);
const DEPLOYED_AT = 77n;
const upgradeable = (data: Uint8Array, executable: boolean) => ({
  ...account(programs.bpfUpgradeableLoader, data),
  executable,
});
const PROGRAM = [
  key(50),
  upgradeable(new ByteWriter().u32(2).bytes(addressBytes(CODE)).finish(), true),
] as const;
const PROGRAM_DATA = [
  CODE,
  upgradeable(new ByteWriter().u32(3).u64(DEPLOYED_AT).u8(0).zeros(32).zeros(9).finish(), false),
] as const;
const ORPHAN = [
  key(52),
  upgradeable(
    new ByteWriter()
      .u32(2)
      .bytes(addressBytes(key(59)))
      .finish(),
    true,
  ),
] as const;
const LISTED = [key(54), account(key(1), Uint8Array.of(5, 4))] as const;
const TABLE_META = new ByteWriter().u32(1).u64(U64_MAX).u64(300_000_000n).u8(1).u8(0).zeros(34);
const TABLE = [
  key(53),
  account(
    programs.addressLookupTable,
    TABLE_META.bytes(addressBytes(LISTED[0]))
      .bytes(addressBytes(key(58)))
      .finish(),
  ),
] as const;
const PLAIN = Array.from({ length: 101 }, (_, i) => {
  return [key(101 + i), account(key(1), Uint8Array.of(i))] as const;
});
const OLD_PROGRAM = [
  key(61),
  { ...account(programs.bpfLoader2, Uint8Array.of(1)), executable: true },
] as const;
const MISSING = key(60);

let remote: RemoteCluster;
beforeAll(async () => {
  remote = await openRemoteCluster([PROGRAM, PROGRAM_DATA, OLD_PROGRAM, ORPHAN, TABLE, LISTED, ...PLAIN]);
});
afterAll(() => remote.close());

const nothing = { accounts: [], maybeAccounts: [], upgradeablePrograms: [], lookupTables: [], programs: [] };

async function clone(request: Partial<CloneRequest>, lines: string[] = []) {
  const log = createLogger('warn', (line) => lines.push(line));
  return new Map(await cloneAccounts(new RemoteAccounts(remote.url), { ...nothing, ...request }, log));
}

describe('cloned accounts', () => {
  it('equal the originals, read 100 per call', async () => {
    const from = remote.reads.length;
    const cloned = await clone({ accounts: PLAIN.map(([address]) => address) });
    expect([...cloned]).toEqual(PLAIN);
    expect(remote.reads.slice(from).map(({ length }) => length)).toEqual([100, 1]);
  });

  it('must exist, and the error names the missing one', async () => {
    const host = new URL(remote.url).host;
    await expect(clone({ accounts: [LISTED[0], MISSING] })).rejects.toThrow(
      `account ${MISSING} does not exist on ${host}`,
    );
  });

  it('may be absent with --maybe-clone, with a warning that names them', async () => {
    const lines: string[] = [];
    expect([...(await clone({ maybeAccounts: [MISSING, LISTED[0]] }, lines)).keys()]).toEqual([LISTED[0]]);
    expect(lines.join()).toContain(MISSING);
  });

  it('include the program data of upgradeable programs, with deployment slot 0', async () => {
    const cloned = await clone({ upgradeablePrograms: [PROGRAM[0]] });
    expect(cloned.get(PROGRAM[0])).toEqual(PROGRAM[1]);
    expect(programDataAddressOf(PROGRAM[1])).toBe(CODE);
    const { data } = PROGRAM_DATA[1];
    expect(cloned.get(CODE)?.data).toEqual(Uint8Array.from(data).fill(0, 4, 12));
  });

  it('are programs of any loader by --clone-program, the upgradeable ones with their program data', async () => {
    const cloned = await clone({ programs: [PROGRAM[0], OLD_PROGRAM[0]] });
    expect([...cloned.keys()]).toEqual([PROGRAM[0], OLD_PROGRAM[0], CODE]);
  });

  it.each([
    [{ programs: [LISTED[0]] }, `account ${LISTED[0]} is not a program: use --clone`],
    [{ upgradeablePrograms: [LISTED[0]] }, `account ${LISTED[0]} is not an upgradeable program: use --clone`],
    [{ upgradeablePrograms: [ORPHAN[0]] }, `account ${key(59)} does not exist`],
    [{ lookupTables: [LISTED[0]] }, `account ${LISTED[0]} is not an address lookup table`],
  ])('are rejected if their kind is wrong: %j', async (request: Partial<CloneRequest>, text) => {
    await expect(clone(request)).rejects.toThrow(text);
  });

  it('include the accounts of a lookup table that exist', async () => {
    const cloned = await clone({ lookupTables: [TABLE[0]] });
    expect([...cloned.keys()]).toEqual([TABLE[0], LISTED[0]]);
    // All its addresses can be used at once.
    expect(cloned.get(TABLE[0])?.data).toEqual(Uint8Array.from(TABLE[1].data).fill(0, 12, 21));
  });

  it('leave an existing ledger as it is if one cannot be read', async () => {
    const lab = await Lab.open();
    const { hash } = lab.node.genesis;
    const clone = () => Promise.reject(new Error('not read'));
    await expect(lab.reopen({ reset: true, clone })).rejects.toThrow('not read');
    await lab.reopen({ clone });
    expect(lab.node.genesis.hash).toBe(hash);
    await lab.close();
  });

  it('replace accounts of files in a new ledger, and are not read for an existing one', async () => {
    const [address, original] = LISTED;
    const rig = await openRig({
      accounts: [[address, account(key(2), Uint8Array.of(1))]],
      clone: async () => [...(await clone({ accounts: [address] }))],
    });
    expect(rig.node.bank('processed').account(address)).toEqual(original);
    await rig.close();
  });
});

describe('reading from a cluster', () => {
  const ADDRESS: Address = key(7);
  const empty = '{"jsonrpc":"2.0","result":{"context":{"slot":1},"value":[null]},"id":1}';
  const options = { attempts: 3, pauseMs: 1 };

  it('is repeated if the cluster is busy', async () => {
    const server = await openScripted(
      (response) => response.writeHead(429).end(),
      (response) => response.writeHead(503).end(),
      (response) => response.end(empty),
    );
    expect(await new RemoteAccounts(server.url, options).read([ADDRESS])).toEqual([null]);
    expect(server.calls()).toBe(3);
    server.close();
  });

  it.each([
    ['HTTP status 429', 3, (response) => response.writeHead(429).end()],
    ['HTTP status 403', 1, (response) => response.writeHead(403).end()],
    [
      'error -32601: Method not found',
      1,
      (response) => {
        response.end('{"error":{"code":-32601,"message":"Method not found"}}');
      },
    ],
    ['no response within 500 ms', 3, () => {}],
    ['the response is not a list of accounts', 1, (response) => response.end('{"result":7}')],
    ['the response has another number of accounts', 1, (response) => response.end(empty.replace('null', ''))],
  ] as [string, number, Parameters<typeof openScripted>[0]][])(
    'fails with %j after %d attempts, naming address and host but not the URL',
    async (reason, attempts, script) => {
      const server = await openScripted(script);
      const timeoutMs = reason.startsWith('no response') ? 500 : 30_000;
      const failed = new RemoteAccounts(server.url, { ...options, timeoutMs }).read([ADDRESS]);
      await expect(failed).rejects.toThrow(`cannot read ${ADDRESS} from ${server.host}: ${reason}`);
      await expect(failed).rejects.not.toThrow('secret-key');
      expect(server.calls()).toBe(attempts);
      server.close();
    },
  );

  it('fails if nothing listens', async () => {
    const server = await openScripted();
    server.close();
    await expect(new RemoteAccounts(server.url, options).read([ADDRESS])).rejects.toThrow('ECONNREFUSED');
  });
});
