import { expect, it } from 'vitest';
import { programArgument } from './genesis-files.ts';
import { wellKnownProgram, wellKnownPrograms } from './well-known-programs.ts';

it('knows the programs of NFTs and domains', () => {
  expect(wellKnownProgram('token-metadata')?.address).toBe('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s');
  expect(wellKnownProgram('constructor')).toBe(null);
  expect(programArgument('--bpf-program', 'core')).toBe('CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d');
  expect(() => programArgument('--bpf-program', 'kernel')).toThrow('--bpf-program: "kernel"');
});

it('has a name for each program that another one calls', () => {
  const all = Object.values(wellKnownPrograms);
  const addresses = all.map(({ address }) => address);
  expect(all.flatMap(({ calls = [] }) => calls).filter((called) => !addresses.includes(called))).toEqual([]);
});
