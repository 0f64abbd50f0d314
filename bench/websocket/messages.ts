/** What is subscribed to, what is told, and what the processes of the benchmark say to each other. */

/** An address for each number below 1,000. */
export const addressOf = (account: number): string =>
  `${'1'.repeat(29)}${String.fromCharCode(97 + Math.floor(account / 100), 97 + (Math.floor(account / 10) % 10), 97 + (account % 10))}`;

/** The account's data is base64 of so many bytes: with it a message has about 530 bytes. */
const DATA = Buffer.alloc(180, 7).toString('base64');

/** What the feed tells of an account; of the same length for every account and event. */
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

/** Events of an account that are made beforehand, and told over and over: making them is not measured. */
export const EVENTS_MADE = 16;

export const METHOD = 'accountNotification';

/** A message of the feed as a client of subscription 1 reads it. */
const MESSAGE = JSON.stringify({
  jsonrpc: '2.0',
  method: METHOD,
  params: { result: resultOf(0, 0), subscription: 1 },
});

/** Bytes of one message with its frame: both servers send exactly these. */
export const FRAME_BYTES = MESSAGE.length + 4;

/** To a server: tell every account so many events in one turn of the event loop; or: collect and weigh yourself. */
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
/** From the sink: it did what it was told, or all that was expected is there. */
export type SinkMessage = Readonly<{ done: true }>;
