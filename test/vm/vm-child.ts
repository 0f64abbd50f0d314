import { LiteSvm } from 'litesvm/dist/internal.js';

/**
 * Runs transactions in the VM and answers with how many it ran. The VM takes this whole process down when it
 * cannot decode one: that is what the parent watches for.
 */
const vm = new LiteSvm();
vm.setSigverify(false);
vm.setBlockhashCheck(false);
vm.setTransactionHistory(0n);

process.on('message', (wires: readonly Uint8Array[]) => {
  for (const wire of wires) vm.sendVersionedTransaction(wire);
  process.send?.(wires.length);
});
