import { describe, expect, it } from 'vitest';
import { Circuit } from './circuit.ts';

const limits = { circuitFailuresMax: 3, circuitOpenMs: 100 };

function tripped(at: number): Circuit {
  const circuit = new Circuit(limits);
  for (let i = 0; i < limits.circuitFailuresMax; i++) circuit.failed(at);
  return circuit;
}

describe('a circuit', () => {
  it('stays closed below the limit, and a success starts the count again', () => {
    const circuit = new Circuit(limits);
    circuit.failed(0);
    circuit.failed(0);
    circuit.succeeded();
    circuit.failed(0);
    circuit.failed(0);
    expect(circuit.isOpen(0)).toBe(false);
    expect(circuit.failuresInRow).toBe(2);
  });

  it('opens at the limit, and lets one trial through when its time is over', () => {
    const circuit = tripped(0);
    expect(circuit.isOpen(99)).toBe(true);
    expect(circuit.isOpen(100)).toBe(false);
    circuit.started(100);
    expect(circuit.isOpen(100)).toBe(true);
    circuit.succeeded();
    expect(circuit.isOpen(100)).toBe(false);
    expect(circuit.tripped).toBe(false);
  });

  it('stays open twice as long after each failed trial, up to eight times', () => {
    const circuit = tripped(0);
    let now = 0;
    for (const length of [100, 200, 400, 800, 800]) {
      expect(circuit.isOpen(now + length - 1)).toBe(true);
      now += length;
      expect(circuit.isOpen(now)).toBe(false);
      circuit.started(now);
      circuit.failed(now);
    }
  });

  it('is closed by a poll, and opened again by the first call that fails, for twice as long each time', () => {
    const circuit = tripped(0);
    let now = 0;
    for (const length of [100, 200, 400, 800, 800]) {
      expect(circuit.isOpen(now + length - 1)).toBe(true);
      now += length;
      circuit.started(now);
      circuit.pollSucceeded();
      expect([circuit.isOpen(now), circuit.tripped]).toEqual([false, false]);
      circuit.started(now);
      circuit.failed(now);
      expect(circuit.tripped).toBe(true);
    }
    circuit.pollSucceeded();
    circuit.succeeded();
    for (let i = 1; i < limits.circuitFailuresMax; i++) circuit.failed(now);
    expect(circuit.tripped).toBe(false);
    circuit.failed(now + 800);
    expect([circuit.isOpen(now + 899), circuit.isOpen(now + 900)]).toEqual([true, false]);
  });

  it('is not kept open longer by requests that were under way when it opened', () => {
    const circuit = tripped(0);
    circuit.failed(50);
    circuit.failed(60);
    expect(circuit.isOpen(100)).toBe(false);
  });

  it('gives the trial to another request when the first told nothing', () => {
    const circuit = tripped(0);
    circuit.started(100);
    circuit.released();
    expect(circuit.isOpen(100)).toBe(false);
  });
});
