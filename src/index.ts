export type { Task } from './task/model.ts'
