import { instructionDiscriminator, leadingHex } from '../events/discriminator.ts';
import type { ExecutedTransaction } from '../executed-transaction.ts';
import type { ExecutedInstruction } from '../instruction.ts';

/**
 * Whether the offer that an instruction makes is taken up in the same transaction: whoever buys at once bids and
 * executes the sale together, and the sale alone is what happened.
 * @param sales - names of the instructions that execute a sale.
 * @returns for the place of the offer's account among those of its instruction, the test of one instruction.
 */
export function fulfilledBy(
  sales: readonly string[],
): (offerAt: number) => (instruction: ExecutedInstruction, transaction: ExecutedTransaction) => boolean {
  const marks = new Set(sales.map(instructionDiscriminator));
  return (offerAt) =>
    ({ program, index, accounts }, { instructions }) => {
      const offer = accounts[offerAt];
      return (
        offer !== undefined &&
        instructions.some(
          (one) =>
            one.index > index &&
            one.program === program &&
            marks.has(leadingHex(one.data)) &&
            one.accounts.includes(offer),
        )
      );
    };
}
