import { ByteBudget } from '../../src/base/cache/byte-budget.ts';
import { envelopeLimits } from '../../src/protocol/request-envelope.ts';
import { CallConcurrencyLimit } from '../../src/servers/websocket/call-queue.ts';
import { Conversation, type Peer } from '../../src/servers/websocket/conversation.ts';
import { decodeMessage } from '../../src/servers/websocket/decode.ts';
import type { OpenSubscription, Session } from '../../src/streams/session.ts';

export const from = 'clients';
export const covers = ['servers/websocket/decode.ts'];

const call = (method: string, params: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;

/** Calls, subscriptions and their ends, alone and in a batch. */
export const seeds: readonly Uint8Array[] = [
  call('getSlot', '[]'),
  call('slotSubscribe', 'null'),
  call('slotUnsubscribe', '[1]'),
  call('accountUnsubscribe', '[18446744073709551615]'),
  `[${call('slotSubscribe', '[]')},${call('slotUnsubscribe', '[2]')},${call('getBlock', '[5]')},7]`,
].map((text) => Buffer.from(text));

let problem: unknown = null;

function checkFrame(frame: Buffer): void {
  if (frame[0] !== 0x81) throw new Error('not a text frame');
  const short = (frame[1] as number) < 126 ? 2 : frame[1] === 126 ? 4 : 10;
  JSON.parse(frame.toString('utf8', short));
}

function note(frame: Buffer): void {
  try {
    checkFrame(frame);
  } catch (thrown) {
    problem = thrown;
  }
}

const peer: Peer = {
  isOpen: true,
  isFull: false,
  send: note,
  sendResponse: note,
  sendNotification: ({ bytes }) => note(bytes),
  end: () => {},
  onSettled: () => {},
  onError: (thrown) => {
    problem = thrown;
  },
};

const opened: OpenSubscription = { start: () => {}, close: () => {} };

const session: Session = {
  limits: { subscriptionsMax: 10, messageMaxBytes: 1 << 20 },
  call: async (_method, params) => {
    if (params !== null) JSON.parse(params.toString());
    return { response: { body: Buffer.from('1'), errorCode: 0 }, failure: null, rateLimit: null };
  },
  recordInvalidRequest: (fault) => fault,
  subscribe: async () => ({ opened, error: null }),
  recordReceived: () => 0,
  recordSent: () => {},
  end: () => {},
  close: () => {},
};

const options = {
  callsInFlightMax: 4,
  callsWaitingMax: 100,
  callsWaitingMaxBytes: 10_000,
  batchConcurrency: 8,
  responseBudget: new ByteBudget(() => 1_000_000),
  batchAnswersMaxBytes: 1_000_000,
  envelope: envelopeLimits,
};
const conversation = new Conversation(session, peer, options, new CallConcurrencyLimit(1_000_000));

/** Whatever a client sends as a message: nothing breaks, and every answer is a frame of JSON. */
export function fuzz(input: Uint8Array): boolean {
  if (problem !== null) throw problem;
  const message = Buffer.from(input);
  conversation.receive(message);
  return decodeMessage(message, envelopeLimits).failure === null;
}
