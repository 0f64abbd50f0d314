import { useState } from 'react';

export function useAttempt(): {
  problem: unknown;
  isBusy: boolean;
  run: (work: () => Promise<void>) => void;
} {
  const [problem, setProblem] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);
  const run = (work: () => Promise<void>): void => {
    setIsBusy(true);
    setProblem(null);
    work()
      .catch(setProblem)
      .finally(() => setIsBusy(false));
  };
  return { problem, isBusy, run };
}
