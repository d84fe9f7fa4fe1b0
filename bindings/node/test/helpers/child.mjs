// Runs a script in a process of its own: {code, signal, stdout, stderr}.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const cwd = fileURLToPath(new URL('../..', import.meta.url));

export const runScript = (script, ...flags) =>
  new Promise((done) => {
    const child = spawn(process.execPath, [...flags, '--input-type=module', '-e', script], { cwd });
    const result = { stdout: '', stderr: '' };
    child.stdout.on('data', (text) => {
      result.stdout += text;
    });
    child.stderr.on('data', (text) => {
      result.stderr += text;
    });
    child.on('close', (code, signal) => done({ code, signal, ...result }));
  });
