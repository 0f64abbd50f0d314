import type { JsonValue } from '../../../src/base/json.ts';
import { encodeBase58 } from '../../../src/solana/base58.ts';
import { nativeMint, programs } from '../../../src/solana/programs.ts';
import { anchorData, emitEvent } from '../swap/transaction-builder.ts';

/** Record of the live interface. */
export type Recorded = {
  timestamp: string;
  fee: number;
  fee_payer: string;
  signers: string[];
  signatures: string[];
  protocol: JsonValue;
  type: string;
  status: string;
  token_balance_changes: {
    address: string;
    decimals: number;
    post_balance: number;
    pre_balance: number;
    mint: string;
    owner: string;
  }[];
  actions: RecordedAction[];
  events: { data: { [name: string]: JsonValue }; name: string }[];
};

export type RecordedAction = {
  info: { [name: string]: JsonValue };
  source_protocol: { address: string; name: string };
  type: string;
  parent_protocol?: string;
  ix_index: number;
};

const JUPITER = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4';
const PUMP_AMM = 'pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA';
const PUMP_FEES = 'pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ';

type Instruction = { [name: string]: JsonValue };

const unparsed = (
  programId: string,
  accounts: string[] = [],
  data: Uint8Array = new Uint8Array(),
): Instruction => ({
  ...{ programId, accounts, data: encodeBase58(data) },
});

const parsed = (programId: string, type: string, info: Instruction): Instruction => ({
  ...{ programId, program: 'parsed', parsed: { type, info } },
});

const opens = (account: JsonValue, mint: JsonValue, owner: JsonValue): Instruction =>
  parsed(programs.token, 'initializeAccount3', { account, mint, owner });

export class RecordRebuilder {
  readonly #record: Recorded;
  readonly #outers: { entry: Instruction; inners: Instruction[] }[] = [];
  readonly #accounts = new Map<string, string>();
  /** Whether the current instruction is a pool call of a router or wrapper. */
  #inPool = false;

  constructor(record: Recorded) {
    this.#record = record;
    const { user_quote_token_account: purse, user } = this.#trade.data;
    for (const { address, owner, mint } of record.token_balance_changes) {
      this.#accounts.set(`${owner} ${mint}`, address);
    }
    this.#accounts.set(`${user} ${nativeMint}`, String(purse));
  }

  get #trade() {
    const trade = this.#record.events.find(({ name }) => /^(Buy|Sell)Event$/.test(name));
    if (trade === undefined) throw new Error('a record without a trade');
    return trade;
  }

  #outer(entry: Instruction): void {
    this.#outers.push({ entry, inners: [] });
    this.#inPool = false;
  }

  #inner(entry: Instruction, stackHeight: number): void {
    this.#outers.at(-1)?.inners.push({ ...entry, stackHeight });
  }

  get #program(): JsonValue | undefined {
    return this.#outers.at(-1)?.entry.programId;
  }

  /** AMM trade: pool and trader are the first accounts. */
  #tradeInstruction(): Instruction {
    const { name, data } = this.#trade;
    const instruction = name === 'SellEvent' ? 'sell' : String(data.ix_name);
    return unparsed(PUMP_AMM, [String(data.pool), String(data.user)], anchorData(instruction, 1n, 1n));
  }

  #event(program: string, name: string): Instruction {
    const event = this.#record.events.find((one) => one.name === name);
    return unparsed(program, [], emitEvent(2, program, name, event?.data ?? {}).data);
  }

  /** Route with accounts and arguments in IDL order. */
  #route(info: RecordedAction['info']): Instruction {
    const rates = Buffer.alloc(10);
    for (const [at, name] of ['slippage_bps', 'platform_fee_bps', 'positive_slippage_bps'].entries()) {
      rates.writeUInt16LE(Number(info[name]), 2 * at);
    }
    const amounts = [info.in_amount, info.quoted_out_amount].map((one) => BigInt(Number(one)));
    const accounts = Object.values(info).filter((value) => typeof value === 'string');
    return unparsed(JUPITER, accounts, Buffer.concat([anchorData('route_v2', ...amounts), rates]));
  }

  #transfer({ info, source_protocol, parent_protocol }: RecordedAction): void {
    const { sender, receiver, amount, token_address, receiver_associated_account: destination } = info;
    const raw = Math.round(Number(info.amount_raw));
    const sol = token_address === undefined;
    const decimals = Math.round(Math.log10(raw / Number(amount)));
    const entry = sol
      ? parsed(programs.system, 'transfer', { source: sender!, destination: receiver!, lamports: raw })
      : parsed(source_protocol.address, 'transferChecked', {
          ...{
            source: this.#accounts.get(`${sender} ${token_address}`) ?? 'nobody',
            destination: destination!,
          },
          ...{ mint: token_address, authority: sender!, tokenAmount: { amount: String(raw), decimals } },
        });
    if (parent_protocol === undefined) this.#outer(entry);
    else this.#inner(entry, this.#inPool && !sol ? 3 : 2);
  }

  #unknownInner(program: string): void {
    const called = this.#outers.at(-1)?.inners.some(({ programId }) => programId === program);
    if (program === PUMP_FEES) this.#inner(unparsed(program), this.#inPool ? 3 : 2);
    else if (program === PUMP_AMM && called) this.#inner(this.#event(PUMP_AMM, this.#trade.name), 3);
    else {
      this.#inPool = program !== JUPITER;
      const pool = program === PUMP_AMM ? this.#tradeInstruction() : unparsed(program);
      this.#inner(this.#inPool ? pool : this.#event(JUPITER, 'SwapsEvent'), 2);
    }
  }

  #add(action: RecordedAction): void {
    const { type, info, source_protocol, parent_protocol } = action;
    const { address } = source_protocol;
    if (type.endsWith('_TRANSFER')) this.#transfer(action);
    else if (type === 'SWAP') this.#outer(this.#tradeInstruction());
    else if (type === 'ROUTE_V2') this.#outer(this.#route(info));
    else if (type === 'GETACCOUNTDATASIZE') this.#inner(parsed(address, 'getAccountDataSize', info), 2);
    else if (type === 'INITIALIZEIMMUTABLEOWNER') {
      this.#inner(parsed(address, 'initializeImmutableOwner', info), 2);
    } else if (parent_protocol === undefined) this.#outer(unparsed(address));
    else this.#unknownInner(address);
  }

  /** Placeholders for account setup and budget instructions. */
  #addUnreported(index: number, next: RecordedAction, last: RecordedAction | undefined): void {
    const parent = next.parent_protocol;
    const { user_quote_token_account: purse, user } = this.#trade.data;
    const madeHere = !this.#record.actions.some(({ type }) => type === 'CREATE_TOKEN_ACCOUNT');
    if (last?.type === 'CREATE_TOKEN_ACCOUNT') {
      const { token_account, mint, user: owner } = last.info;
      this.#inner(opens(token_account!, mint!, owner!), 2);
    } else if (parent !== undefined && parent !== this.#program) this.#outer(unparsed(parent));
    else if (parent !== undefined) this.#inner(unparsed(programs.computeBudget), 2);
    else if (madeHere && index === 3) this.#outer(opens(purse!, nativeMint, user!));
    else this.#outer(unparsed(programs.computeBudget));
  }

  #addAll(): void {
    const actions = this.#record.actions.toSorted((one, other) => one.ix_index - other.ix_index);
    let index = 0;
    for (const [at, action] of actions.entries()) {
      for (; index < action.ix_index; index++) this.#addUnreported(index, action, actions[at - 1]);
      this.#add(action);
      index++;
    }
    if (this.#program === PUMP_AMM) this.#inner(this.#event(PUMP_AMM, this.#trade.name), 2);
  }

  #balances(keys: readonly string[], when: 'pre_balance' | 'post_balance'): JsonValue[] {
    return this.#record.token_balance_changes.map(({ address, mint, owner, decimals, ...change }) => ({
      ...{ accountIndex: keys.indexOf(address), mint, owner, programId: programs.token },
      uiTokenAmount: { amount: String(change[when]), decimals },
    }));
  }

  result(): JsonValue {
    this.#addAll();
    const { signatures, signers, fee, timestamp, token_balance_changes } = this.#record;
    const keys = [...signers, ...token_balance_changes.map(({ address }) => address)];
    return {
      ...{ slot: 1, blockTime: Date.parse(timestamp) / 1000, version: 0 },
      transaction: {
        signatures,
        message: {
          accountKeys: keys.map((pubkey, at) => ({ pubkey, signer: at < signers.length })),
          instructions: this.#outers.map(({ entry }) => ({ ...entry, stackHeight: 1 })),
        },
      },
      meta: {
        ...{ err: null, fee: Math.round(fee * 1e9), logMessages: [] },
        innerInstructions: this.#outers.map(({ inners }, index) => ({ index, instructions: inners })),
        preTokenBalances: this.#balances(keys, 'pre_balance'),
        postTokenBalances: this.#balances(keys, 'post_balance'),
      },
    };
  }
}
