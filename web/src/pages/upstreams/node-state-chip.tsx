import { Chip, type Tone } from '../../ui/chip.tsx';

/** Mirrors src/upstream/health/node-state.ts. */
const states: Readonly<Record<string, readonly [label: string, tone: Tone]>> = {
  unknown: ['Unknown', 'neutral'],
  healthy: ['Healthy', 'good'],
  behind: ['Behind', 'warn'],
  ahead: ['Ahead', 'warn'],
  slow: ['Slow', 'warn'],
  resting: ['Throttled', 'warn'],
  failing: ['Failing', 'bad'],
  'wrong-chain': ['Wrong network', 'bad'],
  cordoned: ['Cordoned', 'accent'],
  draining: ['Draining', 'accent'],
  drained: ['Drained', 'accent'],
};

export function nodeStateOf(state: string): Readonly<{ label: string; tone: Tone }> {
  const [label, tone] = states[state] ?? [state, 'neutral'];
  return { label, tone };
}

export function NodeStateChip({ state }: { state: string }) {
  const { label, tone } = nodeStateOf(state);
  return <Chip tone={tone}>{label}</Chip>;
}
