import { ByteWriter } from '../../../../src/base/bytes.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { blockhashBytes } from '../../../../src/solana/blockhash.ts';
import type { Keypair } from '../../../../src/solana/ed25519.ts';
import { encodeMessage } from '../../../../src/solana/message/message.ts';
import { programs } from '../../../../src/solana/programs.ts';
import type { Signature } from '../../../../src/solana/signature.ts';
import { compileMessage } from '../../../../src/solana/transaction/compile-message.ts';
import { decodeTransaction } from '../../../../src/solana/transaction/decode-transaction.ts';
import { encodeTransaction } from '../../../../src/solana/transaction/encode-transaction.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import { type Epoch, slot as slotOf, U64_MAX } from '../../../../src/solana/units.ts';
import { decodeVoteState, type VoteState } from '../../../../src/solana/vote-state.ts';
import type { GossipVote } from '../../../../src/streams/ledger-event.ts';
import type { SlotHeader } from '../history/slot-record.ts';

const TOWER_SYNC = 14;
const HASH_BYTES = 32;
/** Source: solana-vote-interface, `MAX_LOCKOUT_HISTORY`. */
const VOTES_MAX = 31;

export type Voter = Readonly<{ identity: Keypair; vote: Keypair }>;

type Lockout = Readonly<Omit<VoteState['votes'][number], 'latency'>>;
type Tower = Readonly<{ votes: readonly Lockout[]; rootSlot: bigint | null }>;

type VotedSlot = Pick<SlotHeader, 'slot' | 'blockhash' | 'blockTime'>;

/**
 * Tower after a vote for `slot`, which is newer than all others.
 * @see agave programs/vote, `process_next_vote_slot`
 */
export function towerAfter({ votes, rootSlot }: Tower, slot: bigint): Tower {
  const active = [...votes];
  for (let last = active.at(-1); last !== undefined; last = active.at(-1)) {
    if (last.slot + 2n ** BigInt(last.confirmationCount) >= slot) break;
    active.pop();
  }
  const rooted = active.length === VOTES_MAX ? active.shift() : undefined;
  active.push({ slot, confirmationCount: 1 });
  return {
    votes: active.map(({ slot, confirmationCount }, index) => ({
      slot,
      confirmationCount: confirmationCount + (active.length > index + confirmationCount ? 1 : 0),
    })),
    rootSlot: rooted?.slot ?? rootSlot,
  };
}

/** Source: solana-vote-interface, `serde_tower_sync`. Lengths below 128 take one byte. */
function towerSync({ votes, rootSlot }: Tower, { blockhash, blockTime }: VotedSlot): Uint8Array {
  const writer = new ByteWriter()
    .u32(TOWER_SYNC)
    .u64(rootSlot ?? U64_MAX)
    .u8(votes.length);
  let before = rootSlot ?? 0n;
  for (const { slot, confirmationCount } of votes) {
    writeVarint(writer, slot - before);
    writer.u8(confirmationCount);
    before = slot;
  }
  // SlotHashes has blockhashes, and there are no block ids.
  writer.bytes(blockhashBytes(blockhash)).u8(1).i64(BigInt(blockTime));
  return writer.zeros(HASH_BYTES).finish();
}

/** LEB128. */
function writeVarint(writer: ByteWriter, value: bigint): void {
  let rest = value;
  for (; rest >= 0x80n; rest >>= 7n) writer.u8(Number(rest & 0x7fn) | 0x80);
  writer.u8(Number(rest));
}

function sign({ identity, vote }: Voter, voted: VotedSlot, data: Uint8Array): Transaction {
  const message = compileMessage({
    feePayer: identity.address,
    recentBlockhash: voted.blockhash,
    instructions: [
      {
        programId: programs.vote,
        accounts: [
          { address: vote.address, signer: true, writable: true },
          { address: vote.address, signer: true, writable: false },
        ],
        data,
      },
    ],
  });
  const messageBytes = encodeMessage(message);
  const wire = encodeTransaction([identity.sign(messageBytes), vote.sign(messageBytes)], messageBytes);
  const decoded = decodeTransaction(wire);
  if ('fault' in decoded) throw new Error(`the node made an invalid vote: ${decoded.fault}`);
  return decoded.transaction;
}

const authorizedVoter = ({ authorizedVoters }: VoteState, epoch: Epoch): Address | undefined =>
  authorizedVoters.findLast((authorized) => authorized.epoch <= epoch)?.voter;

export type NodeVote = Readonly<{ transaction: Transaction; gossip: GossipVote }>;

/**
 * The node's vote for the newest frozen slot.
 * @param stored - its vote account.
 * @param epoch - epoch in which the vote is executed.
 * @returns null for slot 0, and if the node may not vote with this account.
 */
export function nodeVote(
  voter: Voter,
  voted: VotedSlot,
  stored: Account | null,
  epoch: Epoch,
): NodeVote | null {
  const state = stored?.owner === programs.vote ? decodeVoteState(stored.data) : null;
  if (state === null || authorizedVoter(state, epoch) !== voter.vote.address) return null;
  const slot = BigInt(voted.slot);
  if (slot <= (state.votes.at(-1)?.slot ?? 0n)) return null;
  const tower = towerAfter(state, slot);
  const transaction = sign(voter, voted, towerSync(tower, voted));
  return {
    transaction,
    gossip: {
      votePubkey: voter.vote.address,
      slots: tower.votes.map((vote) => slotOf(vote.slot)),
      hash: voted.blockhash,
      timestamp: BigInt(voted.blockTime),
      signature: transaction.signatures[0] as Signature,
    },
  };
}
