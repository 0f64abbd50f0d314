import { DEFAULT_CUSTOMER_ID } from '../../src/control/accounts/roles.ts';
import { eventually } from '../service/eventually.ts';
import { GrpcClient } from '../service/grpc-client.ts';
import type { OperatorApi } from '../service/operator-token.ts';
import { createRpcClient, type TestRpcClient } from '../service/rpc-client.ts';
import { SocketClient } from '../service/socket-client.ts';
import type { Ready } from '../service/start-service.ts';
import type { ClientCounts } from './client-counts.ts';

type Key = Readonly<{ id: string; secret: string }>;
export type Customer = Readonly<{ id: string; rpc: Key; restricted: Key; grpc: Key }>;

/** The default network. */
const NETWORK = 'mainnet-beta';
const WALLET = '1'.repeat(32);
/** First byte of a pong: field 9, with a length. */
const PONG = 0x4a;
const OTHER = 'other';
const UNKNOWN_KEY = `svc_rpc_live_${'1'.repeat(46)}`;

export async function createCustomer(api: OperatorApi, name: string): Promise<Customer> {
  const { id } = await api.sendRequest<{ id: string }>('POST', '/customers', { name });
  const create = async (fields: object): Promise<Key> => {
    type Created = Readonly<{ secret: string; key: { id: string } }>;
    const { secret, key } = await api.sendRequest<Created>('POST', `/customers/${id}/keys`, fields);
    return { id: key.id, secret };
  };
  return {
    id,
    rpc: await create({ product: 'rpc', name: 'all methods' }),
    restricted: await create({ product: 'rpc', name: 'slots only', methods: ['getSlot'] }),
    grpc: await create({ product: 'grpc', name: 'streams' }),
  };
}

type Body = Readonly<{ result?: unknown; error?: { code: number; data?: { code?: string } } }>;

/** Calls of one customer over HTTP, WebSocket and gRPC, which count what they are answered. */
export class MixedCalls {
  readonly #customer: Customer;
  readonly #counts: ClientCounts;
  readonly #ready: Ready;
  readonly #rpc: TestRpcClient;
  readonly #restricted: TestRpcClient;
  readonly #grpc: GrpcClient;
  readonly #kinds = [
    () => this.#call('getSlot'),
    () => this.#call('getBalance', [WALLET]),
    () => this.#batch(),
    () => this.#call('getAccountInfo', ['nonsense'], '-32602'),
    () => this.#unparsable(),
    () => this.#forbidden(),
    () => this.#invalidKey(),
    () => this.#otherNetwork(),
    () => this.#rest(WALLET, ''),
    () => this.#rest('nonsense', 'INVALID_FIELDS'),
    () => this.#socket(),
    () => this.#unary(),
    () => this.#stream(),
  ];

  constructor(customer: Customer, counts: ClientCounts, ready: Ready) {
    this.#customer = customer;
    this.#counts = counts;
    this.#ready = ready;
    this.#rpc = createRpcClient(ready.rpcUrl, customer.rpc.secret);
    this.#restricted = createRpcClient(ready.rpcUrl, customer.restricted.secret);
    this.#grpc = new GrpcClient(ready.grpcUrl);
  }

  /** Makes at least `requests` requests. */
  async send(requests: number): Promise<void> {
    await eventually(() => this.#isKnown(), 'the gateway has loaded the keys');
    const made = () => Object.values(this.#counts.by('customer', { customer: this.#customer.id }))[0] ?? 0;
    for (let index = 0; made() < requests; index++) await this.#kinds[index % this.#kinds.length]?.();
    this.#grpc.close();
  }

  #add(key: Key, method: string, code: string, network: string = NETWORK): void {
    this.#counts.add({ customer: this.#customer.id, key: key.id, method, network, code });
  }

  /** Counts the error that the client sees, such as RATE_LIMITED, or the given one, which has no name there. */
  #addAnswer({ error }: Body, method: string, code = '', key = this.#customer.rpc, network?: string): void {
    if (code === '' && error !== undefined && error.data?.code === undefined)
      throw new Error(`${method} got ${JSON.stringify(error)}`);
    this.#add(key, method, error?.data?.code ?? code, network);
  }

  /** The key that was created last is loaded last. */
  async #isKnown(): Promise<boolean> {
    const answer = await this.#grpc.call(this.#customer.grpc.secret, 'GetSlot');
    if ('name' in answer) this.#addUnknown('GetSlot', answer.name);
    else this.#add(this.#customer.grpc, 'GetSlot', '');
    return !('name' in answer);
  }

  /** Requests without a known key belong to the built-in customer. */
  #addUnknown(method: string, code: string): void {
    this.#counts.add({ customer: DEFAULT_CUSTOMER_ID, key: '', method, network: NETWORK, code });
  }

  async #invalidKey(): Promise<void> {
    const client = createRpcClient(this.#ready.rpcUrl, UNKNOWN_KEY);
    const { error } = (await client.call('getSlot')).body;
    this.#addUnknown(OTHER, String(error?.data?.code));
  }

  async #call(method: string, params: readonly unknown[] = [], code = ''): Promise<void> {
    this.#addAnswer((await this.#rpc.call(method, params)).body, method, code);
  }

  async #batch(): Promise<void> {
    const methods = ['getSlot', 'getNothing', 'getBlockHeight'];
    const calls = methods.map((method, id) => ({ jsonrpc: '2.0', id, method, params: [] }));
    const { body } = await this.#rpc.post(JSON.stringify(calls));
    for (const answer of body as unknown as (Body & { id: number })[]) {
      const method = methods[answer.id] ?? '';
      if (method === 'getNothing') this.#addAnswer(answer, OTHER, '-32601');
      else this.#addAnswer(answer, method);
    }
  }

  async #unparsable(): Promise<void> {
    this.#addAnswer((await this.#rpc.post('{"jsonrpc"')).body, OTHER, 'PARSE_ERROR');
  }

  async #forbidden(): Promise<void> {
    const { body } = await this.#restricted.call('getBalance', [WALLET]);
    this.#addAnswer(body, 'getBalance', 'METHOD_FORBIDDEN', this.#customer.restricted);
  }

  async #otherNetwork(): Promise<void> {
    const client = createRpcClient(`${this.#ready.rpcUrl}?network=testnet`, this.#customer.rpc.secret);
    this.#addAnswer((await client.call('getSlot')).body, OTHER, '', this.#customer.rpc, '');
  }

  async #rest(wallet: string, code: string): Promise<void> {
    const url = `${this.#ready.url}/sol/v1/wallet/balance?network=${NETWORK}&wallet=${wallet}`;
    const response = await fetch(url, { headers: { 'x-api-key': this.#customer.rpc.secret } });
    const { error } = (await response.json()) as { error?: { code: string } };
    const named = error?.code ?? code;
    this.#add(this.#customer.rpc, 'wallet/balance', named, named === '' ? NETWORK : '');
  }

  /** The acknowledgement of the end follows all notifications. Ending a subscription is not counted. */
  async #socket(): Promise<void> {
    const { id, rpc } = this.#customer;
    const client = await SocketClient.open(`${this.#ready.wsUrl}?api-key=${rpc.secret}`);
    let messages = 0;
    client.socket.on('message', (data) => {
      if (String(data).includes('"slotNotification"')) messages++;
    });
    const subscription = await client.result<number>('slotSubscribe');
    await client.next(subscription);
    await client.next(subscription);
    await client.result('slotUnsubscribe', [subscription]);
    await client.close();
    this.#add(rpc, 'slotSubscribe', '');
    this.#counts.addMessages(id, rpc.id, messages);
  }

  async #unary(): Promise<void> {
    const answer = await this.#grpc.call(this.#customer.grpc.secret, 'GetSlot');
    this.#add(this.#customer.grpc, 'GetSlot', 'name' in answer ? answer.name : '');
  }

  /** The pong follows all updates of the filter that was removed before it. A ping is not counted. */
  async #stream(): Promise<void> {
    const { id, grpc } = this.#customer;
    const stream = this.#grpc.open(grpc.secret, 'Subscribe');
    stream.send({ slots: new Map([['all', {}]]) });
    await eventually(async () => stream.messages > 2, 'slots are received');
    stream.send({});
    stream.send({ ping: 1 });
    await eventually(async () => stream.last?.[0] === PONG, 'the pong is received');
    this.#add(grpc, 'Subscribe', '');
    for (let sent = 0; sent < 2; sent++) this.#add(grpc, 'SubscribeRequest', '');
    this.#counts.addMessages(id, grpc.id, stream.messages);
    stream.close();
  }
}
