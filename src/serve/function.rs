//! The service itself: one handler under both of its names, and what becomes of a bug in it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tonic::{Code, Request, Response, Status};

use super::answer::{self, Outcome};
use super::metrics::Metrics;
use super::settings::Settings;
use super::{panics, traces};
use crate::wire::proto::{v1, v1beta1};

/// Looks at a request before it is answered, and may fail it; only tests have one.
pub type Hook = fn(&v1::RunFunctionRequest) -> Result<(), Status>;

/// Answers calls.
#[derive(Clone, Debug)]
pub struct Function {
    /// What answers depend on.
    pub settings: Settings,
    /// Where calls are counted.
    pub metrics: Arc<Metrics>,
    #[doc(hidden)]
    pub hook: Option<Hook>,
}

impl Function {
    /// Answers one call. A panic is a bug that costs this one call.
    fn answer(&self, call: v1::RunFunctionRequest) -> Result<Response<v1::RunFunctionResponse>, Status> {
        let tag = answer::tag(&call).to_owned();
        let outcome = panics::watched(|| catch_unwind(AssertUnwindSafe(|| self.attempt(call))));
        match outcome {
            Ok(Ok((response, report))) => {
                traces::tell(report.outcome, &tag);
                self.metrics.answered(&report);
                Ok(Response::new(response))
            }
            Ok(Err(status)) if status.code() == Code::Internal => {
                self.ended(Outcome::Failed, &tag);
                let (outcome, problem) = (Outcome::Failed.as_str(), status.message());
                tracing::error!(tag, outcome, problem, "a bug in function-asya: the call failed");
                Err(status)
            }
            Ok(Err(status)) => {
                self.ended(Outcome::Invalid, &tag);
                tracing::warn!(tag, outcome = Outcome::Invalid.as_str(), problem = status.message(), "Invalid");
                Err(status)
            }
            Err(_) => {
                self.ended(Outcome::Panicked, &tag);
                let (outcome, at) = (Outcome::Panicked.as_str(), panics::place());
                tracing::error!(tag, outcome, at, "a bug in function-asya: the call panicked");
                Err(Status::internal("a bug in function-asya: the call panicked, and its log says where"))
            }
        }
    }

    /// Counts a call without an answer.
    fn ended(&self, outcome: Outcome, tag: &str) {
        traces::tell(outcome, tag);
        self.metrics.called(outcome);
    }

    fn attempt(&self, call: v1::RunFunctionRequest) -> Result<(v1::RunFunctionResponse, answer::Report), Status> {
        if let Some(hook) = self.hook {
            hook(&call)?;
        }
        answer::answer(call, &self.settings)
    }
}

#[tonic::async_trait]
impl v1::function_runner_service_server::FunctionRunnerService for Function {
    async fn run_function(
        &self,
        call: Request<v1::RunFunctionRequest>,
    ) -> Result<Response<v1::RunFunctionResponse>, Status> {
        self.answer(call.into_inner())
    }
}

#[tonic::async_trait]
impl v1beta1::function_runner_service_server::FunctionRunnerService for Function {
    async fn run_function(
        &self,
        call: Request<v1::RunFunctionRequest>,
    ) -> Result<Response<v1::RunFunctionResponse>, Status> {
        self.answer(call.into_inner())
    }
}
