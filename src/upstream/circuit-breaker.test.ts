import { describe, expect, it } from 'vitest';
import { CircuitBreaker } from './circuit-breaker.ts';

const limits = { circuitFailuresMax: 3, circuitOpenMs: 100 };

function tripped(at: number): CircuitBreaker {
  const circuit = new CircuitBreaker(limits);
  for (let i = 0; i < limits.circuitFailuresMax; i++) circuit.recordFailure(at);
  return circuit;
}

describe('CircuitBreaker', () => {
  it('stays closed below the limit; a success resets the count', () => {
    const circuit = new CircuitBreaker(limits);
    circuit.recordFailure(0);
    circuit.recordFailure(0);
    circuit.recordSuccess();
    circuit.recordFailure(0);
    circuit.recordFailure(0);
    expect(circuit.isOpen(0)).toBe(false);
    expect(circuit.consecutiveFailures).toBe(2);
  });

  it('opens at the limit and allows one trial after the open time', () => {
    const circuit = tripped(0);
    expect(circuit.isOpen(99)).toBe(true);
    expect(circuit.isOpen(100)).toBe(false);
    circuit.recordStart(100);
    expect(circuit.isOpen(100)).toBe(true);
    circuit.recordSuccess();
    expect(circuit.isOpen(100)).toBe(false);
    expect(circuit.isTripped).toBe(false);
  });

  it('is closed by a poll and reopened by the first failed call for twice as long', () => {
    const circuit = tripped(0);
    let now = 0;
    for (const length of [100, 200, 400, 800, 800]) {
      expect(circuit.isOpen(now + length - 1)).toBe(true);
      now += length;
      circuit.recordStart(now);
      circuit.recordPollSuccess();
      expect([circuit.isOpen(now), circuit.isTripped]).toEqual([false, false]);
      circuit.recordStart(now);
      circuit.recordFailure(now);
      expect(circuit.isTripped).toBe(true);
    }
    circuit.recordPollSuccess();
    circuit.recordSuccess();
    for (let i = 1; i < limits.circuitFailuresMax; i++) circuit.recordFailure(now);
    expect(circuit.isTripped).toBe(false);
    circuit.recordFailure(now + 800);
    expect([circuit.isOpen(now + 899), circuit.isOpen(now + 900)]).toEqual([true, false]);
  });

  it('is not extended by requests that were in flight when it opened', () => {
    const circuit = tripped(0);
    circuit.recordFailure(50);
    circuit.recordFailure(60);
    expect(circuit.isOpen(100)).toBe(false);
  });
});
