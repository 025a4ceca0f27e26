import { runService } from './process/start.ts'

// The service as `npm start` runs it; `forecourt serve` is the same.

void runService(process.env)
