import { type Behaviour, sendError } from './server.ts';

/** Says of itself that it is behind, whatever it is asked. */
export const behind: Behaviour = ({ id }, reply) =>
  sendError(reply, id, -32005, 'Node is behind by 150 slots', { numSlotsBehind: 150 });
