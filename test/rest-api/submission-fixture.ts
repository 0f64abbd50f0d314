import {
  Keypair,
  NonceAccount,
  type PublicKey,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import { at, type Lab, SOL } from '../../packages/localnet/test/ledger/lab.ts';
import { type JsonValue, parseJson, type WritableJson, writeJson } from '../../src/base/json.ts';
import { type ConfirmationLimits, Confirmations } from '../../src/gateway/rest/confirmations.ts';
import type { Network } from '../../src/protocol/call.ts';
import { methodRow } from '../../src/protocol/methods.ts';
import { type NodeError, NodeRejection } from '../../src/protocol/rest/node-rejection.ts';
import type { RestCaller } from '../../src/protocol/rest/route.ts';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import type { Endpoint } from '../../src/rest-api/endpoint.ts';
import type { Confirmations as Promised } from '../../src/rest-api/services.ts';
import { encodeBase58 } from '../../src/solana/base58.ts';
import type { Feed } from '../../src/streams/feed.ts';
import { LedgerScene } from '../upstream/feeds/ledger-scene.ts';
import { answerOf, failureOf } from './ledger-caller.ts';

export const NETWORK: Network = 'devnet';

/** Replaces the nodes' response; undefined forwards the call. */
type Answering = (
  method: string,
  params: readonly WritableJson[],
) => JsonValue | Promise<JsonValue> | undefined;

export type SubmissionFixtureOptions = Readonly<{
  limits?: Partial<ConfirmationLimits>;
  /** Replaces the nodes' feed. */
  feed?: Feed | null;
}>;

/** Embedded ledger with manual slots, its nodes, and a REST caller. */
export class SubmissionFixture implements RestCaller {
  readonly ownerId = 'somebody';
  readonly scene: LedgerScene;
  readonly leaving = new AbortController();
  readonly calls: string[] = [];
  readonly confirmations: Confirmations;
  answering: Answering = () => undefined;

  private constructor(scene: LedgerScene, { limits, feed }: SubmissionFixtureOptions) {
    this.scene = scene;
    const quick = { pollMs: 40, subscribedPollMs: 200, expiryPollMs: 80, waitMaxMs: 20_000, ...limits };
    const fed = feed === undefined ? scene.feed : feed;
    const parts = { feed: fed, feedNetwork: NETWORK, source: scene.pool, limits: quick };
    this.confirmations = new Confirmations(parts);
  }

  static async open(options: SubmissionFixtureOptions = {}): Promise<SubmissionFixture> {
    return new SubmissionFixture(await LedgerScene.open({ ledger: { manual: true }, upstreams: 1 }), options);
  }

  /** Another caller on the same ledger. */
  withSameLedger(options: SubmissionFixtureOptions = {}): SubmissionFixture {
    return new SubmissionFixture(this.scene, options);
  }

  async close(): Promise<void> {
    this.confirmations.close();
    await this.scene.close();
  }

  get lab(): Lab {
    return this.scene.lab;
  }

  get signal(): AbortSignal {
    return this.leaving.signal;
  }

  readonly request: RestCaller['request'] = async (network, method, params) => {
    this.calls.push(method);
    const given = this.answering(method, params);
    if (given !== undefined) return given;
    const call = { network, method, row: methodRow(method), params: Buffer.from(writeJson(params)) };
    const { body, errorCode } = await request(this.scene.pool, call, this.signal);
    const read = parseJson(body.toString());
    if (errorCode !== 0) throw new NodeRejection(read as unknown as NodeError);
    return read;
  };

  get #services(): { confirmations: Promised } {
    return { confirmations: this.confirmations };
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
  async answer(endpoint: Endpoint, fields: { [name: string]: WritableJson }): Promise<any> {
    return (await answerOf(endpoint, { network: NETWORK, ...fields }, this, this.#services)).result;
  }

  failure(
    endpoint: Endpoint,
    fields: { [name: string]: WritableJson },
  ): Promise<Awaited<ReturnType<typeof failureOf>>> {
    return failureOf(endpoint, { network: NETWORK, ...fields }, this, this.#services);
  }

  signed(
    signers: Keypair[],
    instructions: TransactionInstruction[],
    blockhash = this.lab.blockhash,
  ): { text: string; signature: string } {
    const transaction = new Transaction({ recentBlockhash: blockhash, feePayer: signers[0]!.publicKey });
    transaction.add(...instructions).sign(...signers);
    return {
      text: transaction.serialize().toString('base64'),
      signature: encodeBase58(transaction.signature!),
    };
  }

  transfer(
    from: Keypair,
    to: PublicKey,
    sol: number,
    blockhash?: string,
  ): { text: string; signature: string } {
    const lamports = Math.round(sol * SOL);
    const keys = { fromPubkey: from.publicKey, toPubkey: to };
    return this.signed([from], [SystemProgram.transfer({ ...keys, lamports })], blockhash);
  }

  /** Nonce account and the advance instruction for its transactions. */
  nonce(authority: Keypair): { blockhash: string; advance: TransactionInstruction } {
    const nonce = Keypair.generate();
    const keys = { noncePubkey: nonce.publicKey, authorizedPubkey: authority.publicKey };
    const make = SystemProgram.createNonceAccount({
      ...keys,
      fromPubkey: authority.publicKey,
      lamports: 1_500_000,
    });
    this.lab.run([authority, nonce], make.instructions);
    const stored = this.lab.node.bank('processed').account(at(nonce.publicKey))!;
    const { nonce: blockhash } = NonceAccount.fromAccountData(stored.data);
    return { blockhash, advance: SystemProgram.nonceAdvance(keys) };
  }
}
