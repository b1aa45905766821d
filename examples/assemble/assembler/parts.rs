//! The declarations and functions that lines hold.

use super::Result;
use super::lines::Line;
use motes::vulkan::layout;
use std::collections::HashMap;

/// An instruction: what it defines, its name, its operands.
#[derive(Clone, Debug)]
pub struct Instruction {
    pub result: Option<String>,
    pub op: String,
    pub operands: Vec<String>,
    pub line: Line,
}

/// Something declared outside of functions, with the comments before it.
#[derive(Clone, Debug)]
pub struct Declaration {
    pub instruction: Instruction,
    pub comments: Vec<Line>,
}

/// A function, with the comments before and within it.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub lines: Vec<Line>,
    pub body: Vec<Instruction>,
}

/// All of a text.
#[derive(Debug, Default)]
pub struct Parts {
    /// The comment at the head of the file.
    pub head: Vec<Line>,
    /// Names of entry points and of their functions.
    pub entries: Vec<(String, String)>,
    pub declarations: Vec<Declaration>,
    /// Decorations, names and execution modes, all of them about their first operand.
    pub remarks: Vec<Instruction>,
    pub functions: Vec<Function>,
}

/// The ids among operands.
pub fn ids(operands: &[String]) -> impl Iterator<Item = &str> {
    operands.iter().map(String::as_str).filter(|word| word.starts_with('%'))
}

impl Instruction {
    /// What a line says, if it is no comment.
    fn of(line: &Line) -> Option<Instruction> {
        let code = line.text.split(';').next().unwrap_or_default();
        let mut words = code.split_whitespace().map(str::to_string).peekable();
        let first = words.next()?;
        let (result, op) = if words.next_if(|w| w == "=").is_some() {
            (Some(first), words.next().unwrap_or_default())
        } else {
            (None, first)
        };
        Some(Instruction { result, op, operands: words.collect(), line: line.clone() })
    }
}

impl Parts {
    pub fn of(lines: &[Line]) -> Result<Parts> {
        let mut parts = Parts::default();
        let mut comments: Vec<Line> = Vec::new();
        let mut open: Option<Function> = None;
        let is_head = |line: &Line| line.text.starts_with(';') && line.directive().is_none();
        let head = lines.iter().take_while(|l| is_head(l)).count();
        parts.head = lines[..head].to_vec();
        for line in &lines[head..] {
            if let Some(words) = line.directive() {
                for word in words.iter().skip(1) {
                    let (name, function) = word.split_once(':').unwrap_or((word, word));
                    parts.entries.push((name.into(), format!("%{function}")));
                }
                comments.clear();
                continue;
            }
            let Some(instruction) = Instruction::of(line) else {
                match &mut open {
                    Some(function) => function.lines.push(line.clone()),
                    // A comment belongs to what follows it at once.
                    None if line.text.is_empty() => comments.clear(),
                    None => comments.push(line.clone()),
                }
                continue;
            };
            if !instruction.op.starts_with("Op") {
                let remedy = "write one instruction a line, `%name = OpName ..`";
                return Err(line.problem(format!("{} is no instruction", line.text), remedy));
            }
            match (instruction.op.as_str(), &mut open) {
                ("OpFunction", None) => {
                    let Some(name) = instruction.result.clone() else {
                        return Err(line.problem("a function without a name", "write `%name = `"));
                    };
                    let mut lines = std::mem::take(&mut comments);
                    lines.push(line.clone());
                    open = Some(Function { name, lines, body: vec![instruction] });
                }
                ("OpFunction", Some(function)) => {
                    let what = format!("{} has no OpFunctionEnd", function.name);
                    return Err(line.problem(what, "end it before the next begins"));
                }
                (_, Some(function)) => {
                    let ends = instruction.op == "OpFunctionEnd";
                    function.lines.push(line.clone());
                    function.body.push(instruction);
                    if ends {
                        parts.functions.extend(open.take());
                    }
                }
                (
                    "OpDecorate" | "OpMemberDecorate" | "OpName" | "OpMemberName"
                    | "OpExecutionMode",
                    None,
                ) => {
                    parts.remarks.push(instruction);
                    comments.clear();
                }
                _ if instruction.result.is_some() => {
                    let comments = std::mem::take(&mut comments);
                    parts.declarations.push(Declaration { instruction, comments });
                }
                _ => {
                    let what = format!("{} stands outside of functions", instruction.op);
                    return Err(line.problem(what, "the driver writes it; leave it out"));
                }
            }
        }
        if let Some(function) = open {
            let last = &function.body[0].line;
            return Err(last.problem(format!("{} has no OpFunctionEnd", function.name), "end it"));
        }
        parts.unique()?;
        Ok(parts)
    }

    /// No id is defined twice, and none has the name of a word.
    fn unique(&self) -> Result<()> {
        let mut seen: HashMap<&str, &Line> = HashMap::new();
        let declared = self.declarations.iter().map(|d| &d.instruction);
        for instruction in declared.chain(self.functions.iter().flat_map(|f| &f.body)) {
            let Some(id) = &instruction.result else { continue };
            if layout::word(&id[1..]).is_some() {
                let what = format!("{id} is a word of src/vulkan/layout.rs");
                return Err(instruction.line.problem(what, "give it another name"));
            }
            if let Some(first) = seen.insert(id, &instruction.line) {
                let what = format!("{id} is defined in {}:{} already", first.file, first.number);
                return Err(instruction.line.problem(what, "give one of them another name"));
            }
        }
        Ok(())
    }
}
