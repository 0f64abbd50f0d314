/** Parts of this project that are compared with the recording. */
export type Peer = 'ledger' | 'gateway';

/** Cases in which our responses differ from the recorded ones, and why. Every case that matches must differ. */
export type PubsubDifference = Readonly<{
  cases: RegExp;
  /** Cases that match `cases`, but do not differ. */
  but?: RegExp;
  on: readonly Peer[];
  /** Whether the difference is seen only if the response comes before the pong that ends the case. */
  sometimes?: true;
  why: string;
}>;

const BOTH: readonly Peer[] = ['ledger', 'gateway'];
const DISCONNECTS =
  'Agave only disconnects. RFC 6455 recommends a close frame, and its code names the fault.';
const HTTP_ERROR = 'Agave only disconnects. An HTTP error names the fault.';

export const pubsubDifferences: readonly PubsubDifference[] = [
  {
    cases: /Unsubscribe \[(0\.0|1e0)\]|"minContextSlot":(1\.0|1e3)\}|"maxSupportedTransactionVersion":0\.0\}/,
    on: BOTH,
    why: 'To JSON, 1.0 and 1 are one number; no JavaScript client can write the first.',
  },
  {
    cases: /^programSubscribe .*"dataSlice":\[0,4,8\]/,
    on: BOTH,
    why: 'Only the wording: serde words this fault in another way for a flattened struct.',
  },
  {
    cases: /^getVersion \{\}/,
    on: ['gateway'],
    why: 'Only the wording: parameters by name are rejected before the method is known.',
  },
  {
    cases: /^frame: (text that is not|not UTF-8 inside)|^frame: close with a reason that is not UTF-8/,
    on: BOTH,
    why: DISCONNECTS,
  },
  {
    cases:
      /^frame: (an? (open )?continuation of|a new text|new fragments|reserved|a ping that is too|a fragmented ping)/,
    on: BOTH,
    why: DISCONNECTS,
  },
  { cases: /^frame: binary that is not UTF-8/, on: ['ledger'], why: DISCONNECTS },
  {
    cases: /^frame: binary that is not UTF-8/,
    on: ['gateway'],
    why: 'A binary message may be sent wrongly without harm to the connection, so it gets an error response.',
  },
  {
    cases: /^frame: (a ping )?without a mask/,
    on: BOTH,
    why: 'RFC 6455 requires to close the connection of a client that does not mask.',
  },
  { cases: /^frame: (a message that is too long|a message of 64 KiB)/, on: ['ledger'], why: DISCONNECTS },
  {
    cases: /^frame: fragments that are too long/,
    on: ['ledger'],
    why: 'Agave discards as many bytes again before it disconnects.',
  },
  {
    cases: /^frame: fragments that are too long/,
    ...{ on: ['gateway'], sometimes: true },
    why: 'Messages may have 1 MiB, for filters with many addresses.',
  },
  {
    cases: /^frame: (a message that is too long|a message of 64 KiB)/,
    on: ['gateway'],
    why: 'Messages may have 1 MiB, for filters with many addresses.',
  },
  {
    cases: /^frame: close with (1\d\d\d|3000|4999)$/,
    on: BOTH,
    why: 'The answer to a close frame repeats its reason, and 1014 and 1015 follow the present registry of codes.',
  },
  {
    cases: /^frame: close with half a code/,
    on: BOTH,
    why: 'RFC 6455 knows no half code: it is a protocol error.',
  },
  {
    cases: /^frame: close with the illegal code/,
    on: ['gateway'],
    why: 'The reason of a close frame names the error.',
  },
  {
    cases: /^handshake: (no |another upgrade|an ordinary request|a short key|POST)/,
    but: /no host/,
    on: BOTH,
    why: HTTP_ERROR,
  },
  { cases: /^handshake: (no host|version 8|HTTP\/1\.0)/, on: ['gateway'], why: HTTP_ERROR },
  {
    cases: /^handshake: (no host|version 8|HTTP\/1\.0)/,
    on: ['ledger'],
    why: 'Accepted: version 8 differs only in the handshake, and neither host nor HTTP version matter here.',
  },
  {
    cases: /^handshake: (versions 13 and 8|a key that is not base64)/,
    on: BOTH,
    why: 'RFC 6455 allows one version and 16 bytes in base64.',
  },
  {
    cases: /^handshake: any path and query/,
    on: ['gateway'],
    why: 'Other paths are other interfaces.',
  },
  {
    cases: /Unsubscribe of another kind$/,
    on: ['gateway'],
    why: 'An id is valid for the method of its kind only, so that a mistake does not end another subscription.',
  },
  {
    cases:
      /subscribed twice$|^equal and distinct parameters|^message \[\{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"\}/,
    on: ['gateway'],
    why: 'Ids belong to the connection, and each call gets its own: parts of a program do not end each other’s stream.',
  },
  {
    cases: /^(getSlot|getBalance)$/,
    on: ['gateway'],
    why: 'All JSON-RPC methods work over WebSocket.',
  },
  {
    cases: /^transaction(Uns|S)ubscribe$/,
    on: ['gateway'],
    why: 'transactionSubscribe is offered too, as by other providers.',
  },
  {
    cases: /^message \{"jsonrpc":"2.0","id":"\\u0041/,
    on: ['gateway'],
    why: 'An id is returned as it was written.',
  },
  {
    cases: /^logs (all|alice|Memo)|^block (Memo|alice .*("encoding":"json|"transactionDetails":"accounts"))/,
    on: BOTH,
    why: 'The genesis of the embedded ledger has another release of the Memo program, with other logs and size.',
  },
];
