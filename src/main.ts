import { runService } from './process/start.ts'

// `npm start` runs this; `forecourt serve` does the same.

void runService(process.env)
