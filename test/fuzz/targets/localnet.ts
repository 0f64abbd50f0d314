import { rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { faucetTransfer } from '../../../packages/localnet/src/bank/faucet.ts';
import { readAccountDir } from '../../../packages/localnet/src/genesis/account-file.ts';
import { readGenesis, readKey } from '../../../packages/localnet/src/genesis/ledger-dir.ts';
import { lockLedger } from '../../../packages/localnet/src/genesis/ledger-lock.ts';
import { writeAccount } from '../../../packages/localnet/src/history/account-codec.ts';
import {
  decodeBlock,
  decodeChanges,
  decodeHeader,
  decodeRecord,
  encodeRecord,
} from '../../../packages/localnet/src/history/record-codec.ts';
import { CorruptLog, encodeFrame, SegmentLog } from '../../../packages/localnet/src/history/segment-log.ts';
import { CorruptSnapshot, readSnapshot } from '../../../packages/localnet/src/history/snapshot-file.ts';
import { CorruptRecord } from '../../../packages/localnet/src/history/transaction-codec.ts';
import { handleRequestBody, type Methods } from '../../../packages/localnet/src/http/handle-request.ts';
import { decideCors } from '../../../packages/localnet/src/http/rest-paths.ts';
import { startFaucetServer } from '../../../packages/localnet/src/network/faucet-server.ts';
import { ByteWriter, OutOfBytes } from '../../../src/base/bytes.ts';
import type { JsonValue } from '../../../src/base/json.ts';
import { createLogger } from '../../../src/base/log.ts';
import { RpcError } from '../../../src/protocol/rpc-error.ts';
import { blockhashFromBytes } from '../../../src/solana/blockhash.ts';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { lamports } from '../../../src/solana/units.ts';
import { scratchFolder } from '../engine/scratch.ts';
import { accepted, type Target, texts } from '../engine/target.ts';

const REQUEST_BYTES = 76;
const good = Buffer.alloc(REQUEST_BYTES, 7);
good.writeUInt32LE(0, 0);

const TRANSACTION = Buffer.from('a transaction');
const { port } = await startFaucetServer({
  ...{ host: '127.0.0.1', port: 0, log: createLogger('silent', () => {}) },
  sign: () => TRANSACTION,
});

export const faucetRequestTarget: Target = {
  seeds: [good, Buffer.concat([good, good]), good.subarray(0, 70), Buffer.alloc(REQUEST_BYTES, 1)],
  /** Every complete request gets one response, signed or refused. */
  fuzz(bytes: Uint8Array): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      let received = Buffer.alloc(0);
      const wanted = Math.floor(bytes.length / REQUEST_BYTES);
      const end = (): void => {
        socket.destroy();
        const signed = received.toString('latin1').split(TRANSACTION.toString()).length - 1;
        const refused = (received.length - signed * (TRANSACTION.length + 2)) / 2;
        if (signed + refused === wanted) resolve(signed > 0);
        else reject(new Error(`${wanted} requests, ${signed} signed and ${refused} refused`));
      };
      socket.on('data', (piece) => {
        received = Buffer.concat([received, piece]);
      });
      socket.on('error', reject);
      socket.on('end', end);
      socket.end(bytes);
    });
  },
};

const call = '{"jsonrpc":"2.0","id":1,"method":"echo","params":[5,{"a":18446744073709551615}]}';

const refuse = (): never => {
  throw new RpcError(-32602, 'no');
};
const methods: Methods = new Map<string, (params: JsonValue | undefined) => JsonValue>([
  ['echo', (params) => params ?? null],
  ['refuse', refuse],
]);
const log = createLogger('silent', () => {});
const options = { methods, batchMaxCalls: 10, batchAnswerMaxChars: 1_000, log };

type Shown = Readonly<{ jsonrpc?: unknown; id?: unknown; result?: unknown; error?: { code?: unknown } }>;

const isAnswer = (shown: Shown): boolean =>
  'id' in shown && ('result' in shown || Number.isInteger(shown.error?.code));

export const localnetBodyTarget: Target = {
  seeds: texts([
    call,
    `[${call},{"jsonrpc":"2.0","id":"a\\u0041","method":"refuse"},{"jsonrpc":"2.0","method":"echo"}]`,
    '{"id":null,"method":"constructor"}',
    '[]',
  ]),
  /** The response is empty, or JSON with an id and either a result or an error. */
  async fuzz(bytes: Uint8Array): Promise<boolean> {
    const text = await handleRequestBody(Buffer.from(bytes), options);
    const origin = Buffer.from(bytes).toString('latin1', 0, 60);
    for (const headers of [
      { origin, host: 'a.example' },
      { origin: 'http://a.example', host: origin },
    ])
      decideCors(headers);
    if (text === '') return true;
    const shown = JSON.parse(text) as Shown | readonly Shown[];
    const all = Array.isArray(shown) ? (shown as readonly Shown[]) : [shown as Shown];
    if (!all.every(isAnswer)) throw new Error(`no response: ${text}`);
    return all.some((each) => 'result' in each);
  },
};

const keypair = Keypair.fromSeed(new Uint8Array(32).fill(7));
const KEY = keypair.address;
const account = {
  ...{ lamports: lamports(5), data: Uint8Array.of(1, 2), owner: KEY, executable: false, rentEpoch: 0n },
};

const accounts = new ByteWriter();
writeAccount(accounts, KEY, account);
writeAccount(accounts, KEY, null);
const payload = accounts.finish();
const end = new ByteWriter(8).u64(2n).finish();

const genesis = {
  ...{ format: 1, hash: KEY, identity: KEY, voteAccount: KEY, stakeAccount: KEY, faucet: KEY },
  ...{ creationTime: 1_700_000_000, slotsPerEpoch: 432_000, ticksPerSlot: 64 },
};
const shown = { lamports: 5, data: ['AQI=', 'base64'], owner: KEY, executable: false, rentEpoch: 0 };

const folder = scratchFolder('ledger-files');
const files = [
  'snapshot-000000000005.bin',
  'genesis.json',
  'faucet-keypair.json',
  'accounts/a.json',
  'ledger.lock',
  'log/000000000001.log',
];
for (const name of ['accounts', 'log']) scratchFolder(`ledger-files/${name}`);

function records(): number {
  const log = new SegmentLog(join(folder, 'log'), () => {});
  return [...log.scan(1)].length;
}

export const ledgerFilesTarget: Target = {
  /** Files; after the byte 0xff, the content of a frame of a snapshot. */
  seeds: [
    Buffer.concat([encodeFrame(payload), encodeFrame(end)]),
    Buffer.concat([encodeFrame(payload), encodeFrame(payload).subarray(0, 30)]),
    Buffer.of(0xff, ...payload),
    ...[
      JSON.stringify(genesis),
      keypair.toJson(),
      JSON.stringify({ pubkey: KEY, account: shown }),
      JSON.stringify({ pubkey: KEY, account: { ...shown, data: ['3Bxs', 'base58'] } }),
      '{"pid":1,"started":"5","boot":"x","parent":{"pid":2,"started":"6"}}',
    ].map((text) => Buffer.from(text)),
  ],
  /** Every file of a ledger is read, or refused as damaged. */
  fuzz(bytes: Uint8Array): boolean {
    const file =
      bytes[0] === 0xff ? Buffer.concat([encodeFrame(bytes.subarray(1)), encodeFrame(end)]) : bytes;
    for (const name of files) writeFileSync(join(folder, name), file);
    const read = [
      // The caller falls back to the snapshot before.
      accepted(() => readSnapshot(folder, 5, () => {}), CorruptSnapshot, OutOfBytes),
      accepted(() => {
        if (records() === 0) throw new CorruptLog('empty');
        // The cut is permanent.
        records();
      }, CorruptLog),
      ...[
        () => readGenesis(folder, 400),
        () => readKey(folder, 'faucet'),
        () => readAccountDir(join(folder, 'accounts')),
      ].map((readOne) => isReported(readOne)),
      accepted(() => lockLedger(folder).release()),
    ];
    rmSync(join(folder, 'ledger.lock'), { force: true });
    return read.slice(0, -1).includes(true);
  },
};

/** Whether it was read; an error must name the file. */
function isReported(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    const isPlain = error instanceof Error && error.name === 'Error' && error.message.includes(folder);
    if (isPlain) return false;
    throw error;
  }
}

const payer = Keypair.fromSeed(new Uint8Array(32).fill(1));
const blockhash = blockhashFromBytes(new Uint8Array(32).fill(2));
const header = {
  ...{ slot: 5, blockhash, previousBlockhash: blockhash, transactionCount: 9n },
  ...{ blockTime: 1_700_000_000, epochStartTime: 1_700_000_000 },
};
const meta = {
  ...{ err: { InstructionError: [0, { Custom: 1 }] as const }, fee: lamports(5000), returnData: null },
  ...{
    preBalances: [lamports(1)],
    postBalances: [lamports(2)],
    innerInstructions: [],
    logMessages: ['a log'],
  },
  ...{ preTokenBalances: [], postTokenBalances: [], rewards: [] as const, computeUnitsConsumed: 150n },
  ...{ loadedAddresses: { writable: [], readonly: [] }, costUnits: 1400n },
};
const reward = { pubkey: payer.address, lamports: 2500n, postBalance: lamports(7500) };

export const slotRecordTarget: Target = {
  seeds: [
    encodeRecord({ header, transactions: [], rewards: [], accounts: new Map(), trace: null }),
    encodeRecord({
      header,
      transactions: [{ transaction: faucetTransfer(payer, payer.address, lamports(1), blockhash), meta }],
      rewards: [{ ...reward, rewardType: 'Fee', commission: null }],
      accounts: new Map([[payer.address, account]]),
      trace: {
        rejected: new Map([[1, new Uint8Array(32).fill(9)]]),
        writers: new Map([[payer.address, { transaction: 0, sequence: 3 }]]),
      },
    }),
  ],
  /** A record and each part of it is read, or refused as corrupt. */
  fuzz: (bytes: Uint8Array): boolean =>
    [decodeRecord, decodeBlock, decodeChanges, decodeHeader]
      .map((decode) => accepted(() => decode(bytes), CorruptRecord))
      .includes(true),
};
