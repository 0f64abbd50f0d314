/** Address of an account number below 1,000. */
export const addressOf = (account: number): string =>
  `${'1'.repeat(29)}${String.fromCharCode(97 + Math.floor(account / 100), 97 + (Math.floor(account / 10) % 10), 97 + (account % 10))}`;

/** Account data that results in messages of about 530 bytes. */
const DATA = Buffer.alloc(180, 7).toString('base64');

/** Notification result of the same length for every account and event. */
export const resultOf = (account: number, event: number) => ({
  context: { slot: 300_000_000 + event },
  value: {
    lamports: 100_000_000_000 + account,
    data: [DATA, 'base64'],
    owner: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    executable: false,
    rentEpoch: 1_844_674_407_370_955,
    space: 180,
  },
});

/** Events per account, created in advance and repeated. */
export const EVENTS_MADE = 16;

export const METHOD = 'accountNotification';

const MESSAGE = JSON.stringify({
  jsonrpc: '2.0',
  method: METHOD,
  params: { result: resultOf(0, 0), subscription: 1 },
});

/** Bytes of a message with its frame, the same for both servers. */
export const FRAME_BYTES = MESSAGE.length + 4;

/** To a server: emit events of every account in one turn of the event loop, or measure memory. */
export type ServerOrder = Readonly<{ emit: number } | { weigh: true }>;
/** From a server. */
export type ServerMessage = Readonly<
  { listening: { port: number; path: string } } | { residentBytes: number }
>;

/** To the sink. */
export type SinkOrder = Readonly<
  | { connect: { port: number; path: string; connections: number; accounts: number } }
  | { expect: number }
  | { disconnect: true }
>;
/** From the sink: the command is complete. */
export type SinkMessage = Readonly<{ done: true }>;
